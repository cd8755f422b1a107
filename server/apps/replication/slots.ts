import type { PostgresConnection } from '../../platform/postgres/connect.ts'
import { isSegment, segmentNumberAt, segmentNumberOf } from '../backups/rules/wal-names.ts'
import { isSlotOfFollower } from '../postgres/following.ts'
import { quoteText } from '../postgres/sql.ts'
import type { Replayed } from './lag.ts'
import type { KnownSlot } from './plan.ts'

export async function slotsOn(sql: PostgresConnection): Promise<KnownSlot[]> {
  const rows = await sql.run(`SELECT slot_name, active, wal_status FROM pg_replication_slots WHERE slot_type = 'physical' LIMIT 1000`)
  return rows
    .map(({ slot_name, active, wal_status }) => ({ name: String(slot_name), isActive: isTrue(active), isLost: wal_status === 'lost' }))
    .filter(({ name }) => isSlotOfFollower(name))
}

/** Log is kept for it from now on, for as long as `max_slot_wal_keep_size` lets. Repeatable. */
export async function makeSlot(sql: PostgresConnection, slot: string): Promise<void> {
  await sql.run(
    `SELECT pg_create_physical_replication_slot(${quoteText(slot)}, true)
     WHERE NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = ${quoteText(slot)})`,
  )
}

/** Ends who streams by it. Repeatable. @throws whatever the server says while that one has not gone yet. */
export async function dropSlot(sql: PostgresConnection, slot: string): Promise<void> {
  await sql.run(`SELECT pg_terminate_backend(active_pid, 2000) FROM pg_replication_slots WHERE slot_name = ${quoteText(slot)} AND active`)
  await sql.run(`SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = ${quoteText(slot)}`)
}

/** Number of the oldest segment of the log that a primary has. */
export async function oldestSegmentOn(sql: PostgresConnection): Promise<number> {
  const rows = await sql.run(`SELECT name FROM pg_ls_waldir() WHERE length(name) = 24`)
  return Math.min(
    ...rows
      .map(({ name }) => String(name))
      .filter(isSegment)
      .map(segmentNumberOf),
  )
}

export interface Position extends Replayed {
  receivedSegment: number
}

/** Where a server that follows stands; undefined before it has anything. */
export async function positionOn(sql: PostgresConnection): Promise<Position | undefined> {
  const [row] = await sql.run(`SELECT coalesce(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) AS received,
    pg_last_wal_replay_lsn() AS replayed, (extract(epoch FROM pg_last_xact_replay_timestamp()) * 1000)::float8 AS committed_at`)
  if (typeof row?.received !== 'string' || typeof row.replayed !== 'string') return undefined
  const committedAt = row.committed_at === null ? undefined : Math.round(Number(row.committed_at))
  return { receivedSegment: segmentNumberAt(row.received), lsn: row.replayed, committedAt }
}

export async function endOfLogOn(sql: PostgresConnection): Promise<string> {
  const [row] = await sql.run('SELECT pg_current_wal_flush_lsn() AS lsn')
  return String(row?.lsn)
}

/** Answers to what is sent without values come as text. */
const isTrue = (value: unknown): boolean => value === true || value === 't'
