import { inOneChange } from '../../platform/db/change.ts'
import { setById } from '../../runtime/workloads/set-store.ts'
import { deleteWorkload } from '../../runtime/workloads/store.ts'
import type { AppContext } from '../context.ts'
import { serviceById } from '../services/store.ts'
import { openJobs, type StoredJob, updateJob } from '../workloads/job-store.ts'
import { endJob } from './finish.ts'
import { outcomeOf } from './outcome.ts'

/** Has jobs stopped that are to stop, and concludes those that nobody has any more. */
export function observeJobs(context: AppContext, serviceId: string): void {
  for (const job of openJobs(context.db, serviceId)) {
    if (job.phase === 'pending') continue
    // Who holds its terminal sees its end, and ends it when it is to stop.
    if (!context.shells.has(job.id)) observeJob(context, job)
    else if (job.stopAs !== null) context.shells.end(job.id, job.reason ?? 'It was canceled')
  }
}

function observeJob(context: AppContext, job: StoredJob): void {
  const { db } = context
  if (setById(db, job.id) === undefined) {
    // We may have died before it was handed to the engine.
    if (job.phase === 'starting') updateJob(db, job.id, { phase: 'pending' })
    else endLost(context, job)
  } else if (job.stopAs !== null) context.sets.drop(job.id)
}

function endLost(context: AppContext, job: StoredJob): void {
  inOneChange(context.db, () => {
    deleteWorkload(context.db, job.id)
    const service = serviceById(context.db, job.serviceId)
    if (service !== undefined) endJob(context, { job, service }, outcomeOf(job, undefined, context.exitReasons.take(job.id)))
  })
}
