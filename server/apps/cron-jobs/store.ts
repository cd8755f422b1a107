import type { Database } from 'bun:sqlite'

/** Where the schedule of a cron job stands. Times are milliseconds since 1970. */
export interface StoredCronJob {
  /** What the next time was computed for. */
  schedule: string
  timezone: string
  /** Null while nothing is to run: suspended, or without a release. */
  nextDueAt: number | null
  lastSucceededAt: number | null
}

interface CronJobRow {
  schedule: string
  timezone: string
  next_due_at: number | null
  last_succeeded_at: number | null
}

/** Undefined for a service whose schedule was never looked at. */
export function findCronJob(db: Database, serviceId: string): StoredCronJob | undefined {
  const row = db.query<CronJobRow, [string]>('SELECT * FROM cron_jobs WHERE service_id = ?').get(serviceId)
  if (row === null) return undefined
  const { schedule, timezone, next_due_at: nextDueAt, last_succeeded_at: lastSucceededAt } = row
  return { schedule, timezone, nextDueAt, lastSucceededAt }
}

export type NextDue = Pick<StoredCronJob, 'schedule' | 'timezone' | 'nextDueAt'>

/** Writes down when a cron job is to run next. */
export function setNextDue(db: Database, serviceId: string, next: NextDue): void {
  db.query(
    `INSERT INTO cron_jobs (service_id, schedule, timezone, next_due_at) VALUES ($serviceId, $schedule, $timezone, $nextDueAt)
     ON CONFLICT (service_id) DO UPDATE SET schedule = $schedule, timezone = $timezone, next_due_at = $nextDueAt`,
  ).run({ serviceId, ...next })
}

/** Writes down when a run last succeeded: the runs themselves are forgotten some day. */
export function noteSuccess(db: Database, serviceId: string, at: number): void {
  db.query('UPDATE cron_jobs SET last_succeeded_at = max($at, coalesce(last_succeeded_at, 0)) WHERE service_id = $serviceId').run({
    serviceId,
    at,
  })
}
