import type { Database } from 'bun:sqlite'
import type { AuditEntry, AuditHead } from '../../../shared/audit.ts'

interface EntryRow {
  seq: number
  id: string
  createdAt: number
  event: string
  status: string
  actorType: string
  actorId: string | null
  actorEmail: string | null
  target: string | null
  ip: string | null
  requestId: string | null
  metadata: string
  previousHash: string
  hash: string
  signature: string
}

const columns = `seq, id, created_at AS createdAt, event, status, actor_type AS actorType, actor_id AS actorId, actor_email AS actorEmail,
  target, ip, request_id AS requestId, metadata, previous_hash AS previousHash, hash, signature`

export interface EntryFilter {
  events: readonly string[]
  actors: readonly string[]
  after: number
  before: number
  order: 'ASC' | 'DESC'
  limit: number
}

/** Entries of a workspace in their order. Each event and each actor is looked up by an index of its own, so nothing is sorted. */
export function listEntries(db: Database, workspaceId: string, filter: EntryFilter): AuditEntry[] {
  const { events, actors, order, limit } = filter
  const found =
    events.length > 0
      ? events.flatMap((event) => rowsOf(db, workspaceId, { ...filter, event }))
      : actors.length > 0
        ? actors.flatMap((actor) => rowsOf(db, workspaceId, { ...filter, actors: [actor] }))
        : rowsOf(db, workspaceId, filter)
  const bySequence = new Map(found.map((row) => [row.seq, row]))
  const sorted = [...bySequence.values()].sort((left, right) => (order === 'ASC' ? left.seq - right.seq : right.seq - left.seq))
  return sorted.slice(0, limit).map(presentEntry)
}

function rowsOf(
  db: Database,
  workspaceId: string,
  { event, actors, after, before, order, limit }: EntryFilter & { event?: string },
): EntryRow[] {
  const conditions = ['workspace_id = $workspaceId', 'seq > $after', 'seq < $before']
  const values: Record<string, string | number> = { workspaceId, after, before, limit }
  if (event !== undefined) {
    conditions.push('event = $event')
    values.event = event
  }
  if (actors.length > 0) conditions.push(`(${actors.map((actor, index) => conditionOf(actor, `actor${index}`)).join(' OR ')})`)
  for (const [index, actor] of actors.entries()) values[`actor${index}`] = actor
  return db
    .query<EntryRow, [Record<string, string | number>]>(
      `SELECT ${columns} FROM audit_log ${indexFor(event, actors)} WHERE ${conditions.join(' AND ')} ORDER BY seq ${order} LIMIT $limit`,
    )
    .all(values)
}

/** SQLite would rather walk along the chain, all of it where what is looked for is rare. */
function indexFor(event: string | undefined, [actor]: readonly string[]): string {
  if (event !== undefined) return 'INDEXED BY audit_log_by_event'
  if (actor === undefined) return ''
  return actor.includes('@') ? 'INDEXED BY audit_log_by_email' : 'INDEXED BY audit_log_by_actor'
}

const conditionOf = (actor: string, parameter: string): string => `${actor.includes('@') ? 'actor_email' : 'actor_id'} = $${parameter}`

/** Up to `limit` entries from a place on, oldest first. */
export const entriesFrom = (db: Database, workspaceId: string, { from, limit }: { from: number; limit: number }): AuditEntry[] =>
  db
    .query<EntryRow, [string, number, number]>(`SELECT ${columns} FROM audit_log WHERE workspace_id = ? AND seq >= ? ORDER BY seq LIMIT ?`)
    .all(workspaceId, from, limit)
    .map(presentEntry)

/** The place of a workspace's newest entry; 0 when it has none. */
export const newestSequence = (db: Database, workspaceId: string): number =>
  db.query<{ newest: number | null }, [string]>('SELECT max(seq) AS newest FROM audit_log WHERE workspace_id = ?').get(workspaceId)
    ?.newest ?? 0

/** The place of the first entry at or after a time (ms since 1970); one past the newest when there is none. Times only grow. */
export function firstSequenceAt(db: Database, workspaceId: string, at: number): number {
  const query = db.query<{ createdAt: number }, [string, number]>(
    'SELECT created_at AS createdAt FROM audit_log WHERE workspace_id = ? AND seq = ?',
  )
  let low = 1
  let high = newestSequence(db, workspaceId) + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const createdAt = query.get(workspaceId, middle)?.createdAt ?? 0
    if (createdAt < at) low = middle + 1
    else high = middle
  }
  return low
}

/** The signed end of a workspace's chain; undefined while it has no entries. */
export function readHead(db: Database, workspaceId: string): AuditHead | undefined {
  const row = db
    .query<{ sequence: number; hash: string; createdAt: number; signature: string }, [string]>(
      'SELECT seq AS sequence, hash, created_at AS createdAt, signature FROM audit_heads WHERE workspace_id = ?',
    )
    .get(workspaceId)
  if (row === null) return undefined
  const { createdAt, ...head } = row
  return { ...head, timestamp: timeOf(createdAt) }
}

/** Every workspace that has a chain, deleted ones included. */
export const chainsThereAre = (db: Database): string[] =>
  db
    .query<{ id: string }, []>('SELECT workspace_id AS id FROM audit_log GROUP BY workspace_id UNION SELECT workspace_id FROM audit_heads')
    .all()
    .map(({ id }) => id)

function presentEntry(row: EntryRow): AuditEntry {
  const { seq, id, createdAt, event, status, actorType, actorId, actorEmail, target, ip, requestId, metadata, previousHash, hash } = row
  return {
    id,
    sequence: seq,
    timestamp: timeOf(createdAt),
    event,
    status,
    actor: { type: actorType, ...(actorId !== null && { id: actorId }), ...(actorEmail !== null && { email: actorEmail }) },
    ...(target !== null && { target }),
    ...(ip !== null && { ip }),
    ...(requestId !== null && { requestId }),
    metadata: metadataIn(metadata),
    previousHash,
    hash,
    signature: row.signature,
  }
}

const LATEST_TIME_MS = 8.64e15

/** A time that is none, which only somebody else has written, must not keep the rest from being read. */
const timeOf = (ms: number): string => (Math.abs(ms) <= LATEST_TIME_MS ? new Date(ms).toISOString() : String(ms))

/** Text that is not exactly what we write is shown as such: it has another hash then, as it should. */
function metadataIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && JSON.stringify(value) === text)
      return value as Record<string, unknown>
  } catch {}
  return { unreadable: text }
}
