import type { Database } from 'bun:sqlite'
import { tableOf } from '../../platform/db/table.ts'

/** How far a replica was behind its primary at a moment. */
export interface LagSample {
  datastoreId: string
  /** Seconds since 1970. */
  at: number
  lagMs: number
}

const lags = tableOf<LagSample>('replica_lags', { datastoreId: 'datastore_id', at: 'at', lagMs: 'lag_ms' })

const KEPT_SECONDS = 48 * 60 * 60

/** Keeps what was measured, and forgets what is older than two days. */
export function insertLag(db: Database, sample: LagSample): void {
  lags.put(db, sample)
  db.query('DELETE FROM replica_lags WHERE datastore_id = ? AND at < ?').run(sample.datastoreId, sample.at - KEPT_SECONDS)
}

/** What was measured of a replica, oldest first: from `start` up to, not including, `end`, in seconds since 1970. */
export const lagsOf = (db: Database, datastoreId: string, { start, end }: { start: number; end: number }): LagSample[] =>
  lags.all(db, 'WHERE datastore_id = $datastoreId AND at >= $start AND at < $end ORDER BY at', { datastoreId, start, end })

/** What was measured last between two moments in seconds since 1970; undefined where nothing was. A clock that was ahead leaves what is of later. */
export const newestLag = (db: Database, datastoreId: string, { since, until }: { since: number; until: number }): LagSample | undefined =>
  lags.get(db, 'WHERE datastore_id = $datastoreId AND at >= $since AND at <= $until ORDER BY at DESC LIMIT 1', {
    datastoreId,
    since,
    until,
  })

const RECENT_SECONDS = 60

/** How many seconds a replica was behind within the last minute; undefined where that is not known. `nowMs` is milliseconds since 1970. */
export function lagSecondsNow(db: Database, datastoreId: string, nowMs: number): number | undefined {
  const until = Math.floor(nowMs / 1000)
  const newest = newestLag(db, datastoreId, { since: until - RECENT_SECONDS, until })
  return newest && newest.lagMs / 1000
}
