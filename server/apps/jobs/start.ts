import { inOneChange } from '../../platform/db/change.ts'
import type { AppContext } from '../context.ts'
import { releaseById } from '../deploys/release-store.ts'
import { deployById } from '../deploys/store.ts'
import type { StoredService } from '../services/store.ts'
import { JOB, jobById, updateJob } from '../workloads/job-store.ts'
import { endJob, recordStart } from './finish.ts'

export function startJob(context: AppContext, service: StoredService, jobId: string): void {
  const { db } = context
  inOneChange(db, () => {
    const waiting = jobById(db, jobId)
    if (waiting?.phase !== 'pending' || waiting.stopAs !== null) return
    const deploy = service.liveDeployId === null ? undefined : deployById(db, service.liveDeployId)
    const release = deploy?.releaseId == null ? undefined : releaseById(db, deploy.releaseId)
    if (deploy === undefined || release === undefined) {
      const reason = 'Nothing of the service is live. Deploy it first.'
      endJob(context, { job: waiting, service }, { phase: 'failed', exitCode: null, reason })
      return
    }
    if (waiting.startedAt === null) recordStart(context, { job: waiting, service })
    const spec = { deployId: deploy.id, releaseId: release.id }
    updateJob(db, jobId, { phase: 'starting', ...spec, startedAt: context.now() })
    context.sets.apply({ ...JOB, id: jobId, ownerId: service.id, spec, replicas: 1 })
  })
}
