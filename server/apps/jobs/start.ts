import { AppError } from '../../../shared/error.ts'
import type { InstanceSpec } from '../../engines/port/port.ts'
import { describeError } from '../../platform/server-log.ts'
import type { AppContext } from '../context.ts'
import { releaseById, type StoredRelease } from '../deploys/release-store.ts'
import { deployById } from '../deploys/store.ts'
import { prepareWorkload } from '../launch/launch.ts'
import type { StoredService } from '../services/store.ts'
import { jobById, type StoredJob, updateJob } from '../workloads/job-store.ts'
import { endJob, recordStart } from './finish.ts'
import { closeJobOutput, followJob } from './output.ts'

/** Nothing listens in a job, but apps that read PORT at start must find a number. */
const NO_PORT = 0

interface Prepared {
  job: StoredJob
  service: StoredService
  release: StoredRelease
  deployId: string
}

/** Starts a job that waits, in what is live now. One that cannot be started has failed. */
export async function startJob(context: AppContext, service: StoredService, jobId: string): Promise<void> {
  const prepared = takeRelease(context, service, jobId)
  if (prepared === undefined) return
  const { job } = prepared
  try {
    const spec = await prepareJob(context, prepared)
    followJob(context, job)
    await context.engine.start(spec)
    updateJob(context.db, jobId, { phase: 'running' })
  } catch (error) {
    if (!(error instanceof AppError)) context.log.error('job not started', { jobId, ...describeError(error) })
    await closeJobOutput(context, job)
    const why = error instanceof AppError ? error.message : 'The platform failed; its own log says why.'
    endJob(context, { job, service }, { phase: 'failed', exitCode: null, reason: `It could not be started. ${why}` })
  }
}

/** Writes down that it is about to start and in which release, which is kept from then on. Undefined when it is not to start any more. */
function takeRelease(context: AppContext, service: StoredService, jobId: string): Prepared | undefined {
  const { db } = context
  return db.transaction(() => {
    const waiting = jobById(db, jobId)
    if (waiting?.phase !== 'pending' || waiting.stopAs !== null) return undefined
    const deploy = service.liveDeployId === null ? undefined : deployById(db, service.liveDeployId)
    const release = deploy?.releaseId == null ? undefined : releaseById(db, deploy.releaseId)
    if (deploy === undefined || release === undefined) {
      endJob(
        context,
        { job: waiting, service },
        { phase: 'failed', exitCode: null, reason: 'Nothing of the service is live. Deploy it first.' },
      )
      return undefined
    }
    // A start that was cut off is the same start.
    if (waiting.startedAt === null) recordStart(context, { job: waiting, service })
    updateJob(db, jobId, { phase: 'starting', deployId: deploy.id, releaseId: release.id, startedAt: context.now() })
    return { job: jobById(db, jobId) ?? waiting, service, release, deployId: deploy.id }
  })()
}

/** What asks for nothing can wait: a job yields to instances where both want the same processor, disk or memory. */
async function prepareJob(context: AppContext, { job, service, release, deployId }: Prepared): Promise<InstanceSpec> {
  const own = { ...(job.startCommand !== null && { command: job.startCommand }), ...(job.plan !== null && { plan: job.plan }) }
  const spec = await prepareWorkload(context, { service, release, workload: { id: job.id, deployId, port: NO_PORT, ...own } })
  return { ...spec, priority: 'background' }
}
