import { newId } from '../../platform/id.ts'
import type { AppContext } from '../context.ts'
import { planCronJob } from '../cron-jobs/plan.ts'
import { findCronJob, setNextDue } from '../cron-jobs/store.ts'
import { forgetOldEvents, recordEvent } from '../events/store.ts'
import type { StoredService } from '../services/store.ts'
import { insertJob, openJobs } from '../workloads/job-store.ts'
import { requestStop } from './stop.ts'

/** The wall clock may be set while a timer waits for it: it is read again at least this often. */
const CLOCK_CHECK_MS = 60_000
const KEPT_SKIPS = 1000

/**
 * Brings the schedule of a cron job up to now: writes down the runs that are due and the next time, in one step, so that whoever dies
 * here neither loses nor repeats one. Returns when to look again (ms since 1970), or undefined when it is not scheduled.
 */
export function scheduleRuns(context: AppContext, service: StoredService): number | undefined {
  const { db } = context
  return db.transaction(() => {
    const now = context.now()
    const runs = openJobs(db, service.id).filter(({ kind }) => kind === 'cron')
    const plan = planCronJob({
      now,
      rule: service.controls.cron,
      isActive: service.suspendedAt === null && service.deletedAt === null && service.liveDeployId !== null,
      kept: findCronJob(db, service.id),
      openRunIds: runs.map(({ id }) => id),
    })
    if (plan.next !== undefined) setNextDue(db, service.id, plan.next)
    for (const { dueAt, reason } of plan.skipped) {
      const details = { dueAt: new Date(dueAt).toISOString(), reason }
      recordEvent(db, { owner: service, type: 'cron_job_run_skipped', details, now })
    }
    if (plan.skipped.length > 0) forgetOldEvents(db, { serviceId: service.id, types: ['cron_job_run_skipped'], count: KEPT_SKIPS })
    if (plan.run !== undefined) {
      const { dueAt, replacedRunIds } = plan.run
      const id = newId('job', now)
      const run = { id, serviceId: service.id, kind: 'cron', startCommand: null, plan: null, dueAt, triggeredBy: 'schedule' } as const
      if (insertJob(db, { ...run, createdAt: now })) stopReplaced(context, service, { ids: replacedRunIds, by: id })
    }
    const nextDueAt = findCronJob(db, service.id)?.nextDueAt ?? null
    return nextDueAt === null ? undefined : Math.min(nextDueAt, now + CLOCK_CHECK_MS)
  })()
}

function stopReplaced(context: AppContext, service: StoredService, { ids, by }: { ids: readonly string[]; by: string }): void {
  for (const job of openJobs(context.db, service.id)) {
    if (ids.includes(job.id)) requestStop(context, { job, service }, { as: 'canceled', reason: `Replaced by ${by}.` })
  }
}
