import type { ExitedState, InstanceState } from '../../engines/port/port.ts'
import type { AppContext } from '../context.ts'
import { pruneReleases } from '../deploys/prune.ts'
import type { StoredService } from '../services/store.ts'
import { instancesOf } from '../workloads/instance-store.ts'
import { openJobs, type StoredJob, updateJob } from '../workloads/job-store.ts'
import { endJob } from './finish.ts'
import { outcomeOf } from './outcome.ts'
import { closeJobOutput } from './output.ts'

/** Compares what is written down of a begun job with what the engine sees, and writes down what differs. Returns whether it runs. */
export async function observeJob(context: AppContext, service: StoredService, job: StoredJob): Promise<boolean> {
  const state = await context.engine.inspect(job.id)
  if (state?.status === 'running') {
    if (job.phase === 'starting') updateJob(context.db, job.id, { phase: 'running' })
    return true
  }
  // The engine knows what it has begun before it begins: this one never was.
  if (state === undefined && job.phase === 'starting') updateJob(context.db, job.id, { phase: 'pending' })
  else await concludeJob(context, service, { job, exit: exitIn(state) })
  return false
}

const exitIn = (state: InstanceState | undefined): ExitedState | undefined => (state?.status === 'exited' ? state : undefined)

/** Whoever sees the end of a job finds all that it wrote, so its output is stored before its end is told. Repeatable. */
async function concludeJob(
  context: AppContext,
  service: StoredService,
  { job, exit }: { job: StoredJob; exit: ExitedState | undefined },
): Promise<void> {
  await closeJobOutput(context, job)
  const outcome = outcomeOf(job, exit, context.exitReasons.take(job.id))
  endJob(context, { job, service }, { ...outcome, ...(exit !== undefined && { endedAt: Date.parse(exit.at) }) })
  await context.engine.remove(job.id)
  await pruneIfUnused(context, job)
}

async function pruneIfUnused(context: AppContext, { serviceId, releaseId }: StoredJob): Promise<void> {
  const users = [...instancesOf(context.db, serviceId), ...openJobs(context.db, serviceId)]
  if (!users.some((user) => user.releaseId === releaseId)) await pruneReleases(context, serviceId)
}
