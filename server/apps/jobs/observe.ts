import { updateWorkload, workloadById } from '../../runtime/workloads/store.ts'
import type { Supervisor } from '../../runtime/workloads/supervisor.ts'
import type { AppContext } from '../context.ts'
import { serviceById } from '../services/store.ts'
import { openJobs, type StoredJob } from '../workloads/job-store.ts'
import { endJob } from './finish.ts'
import { outcomeOf } from './outcome.ts'
import { takeBack } from './owner.ts'

export async function observeJobs(context: AppContext, supervisor: Supervisor, serviceId: string): Promise<void> {
  for (const job of openJobs(context.db, serviceId)) {
    if (job.phase === 'pending') continue
    if (context.shells.has(job.id)) {
      // Who holds its terminal sees its end, and ends it when it is to stop.
      if (job.stopAs !== null) context.shells.end(job.id, job.reason ?? 'It was canceled')
      continue
    }
    await observeJob(context, supervisor, job)
  }
}

async function observeJob(context: AppContext, supervisor: Supervisor, job: StoredJob): Promise<void> {
  const { db } = context
  const workload = workloadById(db, job.id)
  // We may have died before it was handed to the engine.
  if (workload?.phase === 'pending' || (workload === undefined && job.phase === 'starting')) return takeBack(context, job.id)
  if (workload === undefined) return endLost(context, job)
  if (job.stopAs !== null && workload.phase !== 'ended') updateWorkload(db, job.id, { phase: 'stopping' })
  await supervisor.supervise(job.id)
}

/** Nothing is left that could say how it ended. */
function endLost(context: AppContext, job: StoredJob): void {
  const service = serviceById(context.db, job.serviceId)
  if (service !== undefined) endJob(context, { job, service }, outcomeOf(job, undefined, context.exitReasons.take(job.id)))
}
