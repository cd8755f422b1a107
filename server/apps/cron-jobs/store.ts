import type { Database } from 'bun:sqlite'
import { tableOf } from '../../platform/db/table.ts'

/** Where the schedule of a cron job stands. Times are milliseconds since 1970. */
export interface StoredCronJob {
  schedule: string
  timezone: string
  nextDueAt: number | null
  lastSucceededAt: number | null
}

const cronJobs = tableOf<StoredCronJob & { serviceId: string }>('cron_jobs', {
  serviceId: 'service_id',
  schedule: 'schedule',
  timezone: 'timezone',
  nextDueAt: 'next_due_at',
  lastSucceededAt: 'last_succeeded_at',
})

/** Undefined for a service whose schedule was never computed. */
export const findCronJob = (db: Database, serviceId: string): StoredCronJob | undefined =>
  cronJobs.get(db, 'WHERE service_id = $serviceId', { serviceId })

export type NextDue = Pick<StoredCronJob, 'schedule' | 'timezone' | 'nextDueAt'>

/** Writes down when a cron job is due next (milliseconds since 1970), and the schedule that this was worked out from. */
export function setNextDue(db: Database, serviceId: string, next: NextDue): void {
  const renewed = 'schedule = excluded.schedule, timezone = excluded.timezone, next_due_at = excluded.next_due_at'
  cronJobs.insert(db, { serviceId, ...next }, `ON CONFLICT (service_id) DO UPDATE SET ${renewed}`)
}

/** Writes down when a run last succeeded: the runs themselves are forgotten some day. */
export function noteSuccess(db: Database, serviceId: string, at: number): void {
  db.query('UPDATE cron_jobs SET last_succeeded_at = max($at, coalesce(last_succeeded_at, 0)) WHERE service_id = $serviceId').run({
    serviceId,
    at,
  })
}
