import type { Database } from 'bun:sqlite'
import { firstSeqAt } from '../events/list.ts'
import type { Happening } from './filter.ts'
import type { Told } from './message.ts'

export interface FeedEvent extends Happening, Told {
  seq: number
}

interface FeedRow extends Omit<FeedEvent, 'timestamp'> {
  createdAt: number
}

const select = `SELECT events.seq, events.id, events.type, events.service_id AS serviceId, events.service_name AS serviceName,
    events.environment_id AS environmentId, environments.project_id AS projectId, events.details, events.created_at AS createdAt
  FROM events LEFT JOIN environments ON environments.id = events.environment_id`

const feedEvent = ({ createdAt, ...rest }: FeedRow): FeedEvent => ({ ...rest, timestamp: new Date(createdAt).toISOString() })

export const eventsAfter = (
  db: Database,
  workspaceId: string,
  { afterSeq, toSeq = Number.MAX_SAFE_INTEGER, limit }: { afterSeq: number; toSeq?: number; limit: number },
): FeedEvent[] =>
  db
    .query<FeedRow, [string, number, number, number]>(
      `${select} WHERE events.workspace_id = ? AND events.seq > ? AND events.seq <= ? ORDER BY events.seq LIMIT ?`,
    )
    .all(workspaceId, afterSeq, toSeq, limit)
    .map(feedEvent)

export function feedEventById(db: Database, workspaceId: string, id: string): FeedEvent | undefined {
  const row = db.query<FeedRow, [string, string]>(`${select} WHERE events.id = ? AND events.workspace_id = ?`).get(id, workspaceId)
  return row === null ? undefined : feedEvent(row)
}

/** The `seq` of the newest event there is; 0 where there was none ever. */
export const latestSeq = (db: Database): number =>
  db.query<{ seq: number | null }, []>('SELECT max(seq) AS seq FROM events').get()?.seq ?? 0

export interface SeqRange {
  afterSeq: number
  toSeq: number
}

/** Where the events of a workspace from these times (ms since 1970, both included) stand; undefined where there is none. */
export function seqRangeOf(db: Database, workspaceId: string, { from, to }: { from: number; to: number }): SeqRange | undefined {
  const range = { afterSeq: firstSeqAt(db, from) - 1, toSeq: firstSeqAt(db, to + 1) - 1 }
  const found = db.query('SELECT 1 FROM events WHERE workspace_id = ? AND seq > ? AND seq <= ? LIMIT 1')
  return found.get(workspaceId, range.afterSeq, range.toSeq) === null ? undefined : range
}
