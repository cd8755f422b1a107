import type { Database } from 'bun:sqlite'
import type { AppError } from '../../../../shared/error.ts'

const PAUSE_MS = 60_000

/** Until when an installation's host is left alone (ms since 1970); 0 where it is not. */
export const pausedUntil = (db: Database, installationId: string): number =>
  db.query<{ until: number }, [string]>('SELECT until FROM source_host_pauses WHERE installation_id = ?').get(installationId)?.until ?? 0

/** Leaves an installation's host alone after an error that says that it is down or limits the rate, for as long as it asks; not after others. */
export function pauseAfterError(db: Database, installationId: string, { error, now }: { error: AppError; now: number }): void {
  if (error.code !== 'rate_limited' && error.code !== 'unavailable') return
  db.query(
    `INSERT INTO source_host_pauses SELECT id, ? FROM source_host_installations WHERE id = ?
     ON CONFLICT DO UPDATE SET until = excluded.until`,
  ).run(now + Math.max(PAUSE_MS, (error.retryAfterSeconds ?? 0) * 1000), installationId)
}
