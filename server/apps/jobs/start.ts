import { insertWorkload } from '../../runtime/workloads/store.ts'
import type { Supervisor } from '../../runtime/workloads/supervisor.ts'
import type { AppContext } from '../context.ts'
import { releaseById } from '../deploys/release-store.ts'
import { deployById } from '../deploys/store.ts'
import type { StoredService } from '../services/store.ts'
import { JOB, jobById, updateJob } from '../workloads/job-store.ts'
import { endJob, recordStart } from './finish.ts'

export async function startJob(context: AppContext, supervisor: Supervisor, { jobId, service }: JobToStart): Promise<void> {
  if (takeRelease(context, service, jobId)) await supervisor.start(jobId)
}

interface JobToStart {
  jobId: string
  service: StoredService
}

function takeRelease(context: AppContext, service: StoredService, jobId: string): boolean {
  const { db } = context
  return db.transaction(() => {
    const waiting = jobById(db, jobId)
    if (waiting?.phase !== 'pending' || waiting.stopAs !== null) return false
    const deploy = service.liveDeployId === null ? undefined : deployById(db, service.liveDeployId)
    const release = deploy?.releaseId == null ? undefined : releaseById(db, deploy.releaseId)
    if (deploy === undefined || release === undefined) {
      const reason = 'Nothing of the service is live. Deploy it first.'
      endJob(context, { job: waiting, service }, { phase: 'failed', exitCode: null, reason })
      return false
    }
    // A start that was cut off is the same start.
    if (waiting.startedAt === null) recordStart(context, { job: waiting, service })
    const spec = { deployId: deploy.id, releaseId: release.id }
    updateJob(db, jobId, { phase: 'starting', ...spec, startedAt: context.now() })
    insertWorkload(db, { ...JOB, id: jobId, ownerId: service.id, spec, createdAt: context.now() })
    return true
  })()
}
