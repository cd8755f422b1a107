import { AppError } from '../../../shared/error.ts'
import type { InstanceSpec } from '../../engines/port/workload.ts'
import type { WorkloadEnd, WorkloadOwner } from '../../runtime/workloads/owner.ts'
import type { AppContext } from '../context.ts'
import { releaseById } from '../deploys/release-store.ts'
import { prepareWorkload } from '../launch/launch.ts'
import { releaseOwner } from '../launch/release-workload.ts'
import { type StoredService, serviceById } from '../services/store.ts'
import { JOB, jobById, type StoredJob, updateJob } from '../workloads/job-store.ts'
import { releaseSpecOf } from '../workloads/release-spec.ts'
import { endJob } from './finish.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import { closeJobOutput } from './output.ts'
import { mayRun } from './situation.ts'

interface OwnJob {
  job: StoredJob
  service: StoredService
}

export function jobOwner(context: AppContext): WorkloadOwner {
  return {
    ...JOB,
    ...releaseOwner(context),
    policy: { restarts: 'never' },
    newId: ({ id }) => id,
    isHeld: ({ id }) => isHeld(context, id),
    specOf: ({ id }) => specOfJob(context, id),
    closeOutput: (workload) => closeJobOutput(context, { id: workload.id, serviceId: workload.ownerId, ...releaseSpecOf(workload) }),
    onStarted: ({ id }) => updateJob(context.db, id, { phase: 'running' }),
    onEnd({ id }, end) {
      const own = ownJob(context, id)
      // One that was interrupted before it began is the same job still.
      if (own !== undefined && end.kind !== 'interrupted') endJob(context, own, resultOf(own.job, end))
    },
  }
}

/** What is to stop, or must not run now, is stopped by the plan of the jobs; until then it does not begin. */
function isHeld(context: AppContext, id: string): boolean {
  const own = ownJob(context, id)
  return own === undefined || own.job.stopAs !== null || !mayRun(context, own.service)
}

function ownJob({ db }: AppContext, id: string): OwnJob | undefined {
  const job = jobById(db, id)
  const service = serviceById(db, job?.serviceId ?? '')
  return job === undefined || service === undefined ? undefined : { job, service }
}

/** What asks for nothing can wait: a job yields to instances where both want the same processor, disk or memory. */
async function specOfJob(context: AppContext, id: string): Promise<InstanceSpec> {
  const own = ownJob(context, id)
  const release = releaseById(context.db, own?.job.releaseId ?? '')
  if (own === undefined || release === undefined) throw new Error(`Job ${id} has no release to run in`)
  const { startCommand, plan, deployId } = own.job
  const given = { ...(startCommand !== null && { command: startCommand }), ...(plan !== null && { plan }) }
  const workload = { id, deployId: deployId ?? '', ...given }
  const spec = await prepareWorkload(context, { service: own.service, release, workload })
  return { ...spec, runs: 'once' }
}

function resultOf(job: StoredJob, end: Exclude<WorkloadEnd, { kind: 'interrupted' }>): Outcome & { endedAt?: number } {
  if (end.kind === 'over') return { ...outcomeOf(job, end.exit, end.reason), ...(end.exit && { endedAt: Date.parse(end.exit.at) }) }
  const why = end.kind === 'refused' && end.error instanceof AppError ? end.error.message : 'The platform failed; its own log says why.'
  return { phase: 'failed', exitCode: null, reason: `It could not be started. ${why}` }
}
