/**
 * Readers go through all events, each once and in the order in which they were committed: webhooks, notifications. How far each has
 * come is kept in the transaction of what it made of them, so a kill neither loses one nor gives one twice.
 */
import type { Database } from 'bun:sqlite'
import { events, type StoredEvent } from './rows.ts'

/** Begins a reader at the events that are still to come; one that is there already goes on where it was. */
export function beginReading(db: Database, name: string): void {
  db.query(
    `INSERT INTO event_readers (name, seq) VALUES ($name, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0))
     ON CONFLICT DO NOTHING`,
  ).run({ name })
}

/** The next events of a reader, oldest first; none for one that was not begun. */
export const nextEvents = (db: Database, name: string, limit: number): StoredEvent[] =>
  events.all(db, 'WHERE seq > (SELECT seq FROM event_readers WHERE name = $name) ORDER BY seq LIMIT $limit', { name, limit })

/** Says that a reader has dealt with all events up to this one. Belongs in the transaction of what it made of them. */
export const markRead = (db: Database, name: string, seq: number): void =>
  void db.query('UPDATE event_readers SET seq = $seq WHERE name = $name AND seq < $seq').run({ name, seq })

/** The lowest `seq` that some reader has still to come to: what is below may be forgotten. */
export const lowestNeeded = (db: Database): number =>
  db.query<{ seq: number | null }, []>('SELECT min(seq) + 1 AS seq FROM event_readers').get()?.seq ?? Number.MAX_SAFE_INTEGER
