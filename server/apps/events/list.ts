import type { Database } from 'bun:sqlite'
import type { EventQuery, EventType } from '../../../shared/event.ts'
import { DEFAULT_PAGE_ITEMS, idAfter } from '../../http/answers/page.ts'
import { events, type StoredEvent } from './rows.ts'

/**
 * Which events: those whose column holds one of the values, and whose type is one of those named. Each pair of a value and a type is the
 * end of an index, so that a page costs the same among ten million events as among ten.
 */
export interface EventSelection {
  by: 'workspace_id' | 'service_id' | 'environment_id'
  values: readonly string[]
  types: readonly EventType[] | undefined
  environmentIds?: readonly string[] | undefined
}

type Bounds = Pick<EventQuery, 'startTime' | 'endTime' | 'direction' | 'cursor' | 'limit'>

/** A page of events, newest first, or oldest first where `direction` is forward. @throws AppError `validation_failed` for a wrong cursor. */
export function listEvents(db: Database, selection: EventSelection, bounds: Bounds): StoredEvent[] {
  const { by, types, environmentIds } = selection
  const values = by === 'service_id' && environmentIds !== undefined ? seenIn(db, selection.values, environmentIds) : selection.values
  const isForward = bounds.direction === 'forward'
  const order = isForward ? 'ASC' : 'DESC'
  const streams = values.flatMap((value) => (types === undefined ? [[value]] : types.map((type) => [value, type])))
  const found = `FROM events AS one ${by === 'service_id' ? `INDEXED BY events_by_service${types === undefined ? '' : '_and_type'}` : ''}
    WHERE one.${by} = +(stream.value ->> 0) ${types === undefined ? '' : 'AND one.type = +(stream.value ->> 1)'}
      ${environmentIds === undefined ? '' : 'AND one.environment_id IN (SELECT value FROM json_each($environments))'}
      AND one.seq > $after AND one.seq < $before ORDER BY one.seq ${order}`
  // A page holds nothing of a stream that begins behind so many others, so that a thousand streams cost little more than one look each.
  const rest = `WHERE seq IN (
    WITH stream AS MATERIALIZED (
      SELECT stream.value, (SELECT one.seq ${found} LIMIT 1) AS head FROM json_each($streams) AS stream
      ORDER BY head IS NULL, head ${order} LIMIT $limit)
    SELECT page.seq FROM stream CROSS JOIN events AS page
    WHERE stream.head IS NOT NULL AND page.seq IN (SELECT one.seq ${found} LIMIT $limit)
    ORDER BY page.seq ${order} LIMIT $limit)
  ORDER BY seq ${order}`
  return events.all(db, rest, {
    streams: JSON.stringify(streams),
    ...(environmentIds && { environments: JSON.stringify(environmentIds) }),
    ...rangeOf(db, bounds, isForward),
    limit: bounds.limit ?? DEFAULT_PAGE_ITEMS,
  })
}

/** Services that something has happened to in one of the environments: all events of the others would be looked at for nothing. */
const seenIn = (db: Database, serviceIds: readonly string[], environmentIds: readonly string[]): string[] =>
  db
    .query<{ id: string }, [string, string]>(
      `SELECT value AS id FROM json_each(?) AS service WHERE EXISTS (SELECT 1 FROM events INDEXED BY events_by_service_and_environment
         WHERE service_id = service.value AND environment_id IN (SELECT value FROM json_each(?)))`,
    )
    .all(JSON.stringify(serviceIds), JSON.stringify(environmentIds))
    .map(({ id }) => id)

interface Range {
  after: number
  before: number
}

function rangeOf(db: Database, { startTime, endTime, cursor }: Bounds, isForward: boolean): Range {
  const after = startTime === undefined ? 0 : firstSeqAt(db, Date.parse(startTime)) - 1
  const before = endTime === undefined ? Number.MAX_SAFE_INTEGER : firstSeqAt(db, Date.parse(endTime) + 1)
  const passedId = idAfter(cursor)
  if (passedId === undefined) return { after, before }
  const passed = seqOf(db, passedId)
  return isForward
    ? { after: Math.max(after, passed.seq), before }
    : { after, before: Math.min(before, passed.isThere ? passed.seq : passed.seq + 1) }
}

/** Cursors hold ids: a `seq` would tell how much happens in other workspaces. The event may have been forgotten since: ids are in order as well. */
function seqOf(db: Database, id: string): { seq: number; isThere: boolean } {
  const found = db.query<{ id: string; seq: number }, [string]>('SELECT id, seq FROM events WHERE id <= ? ORDER BY id DESC LIMIT 1').get(id)
  return found === null ? { seq: 0, isThere: false } : { seq: found.seq, isThere: found.id === id }
}

/** The smallest `seq` that no event from before this time (ms since 1970) has. Times ascend with it, so halving finds the place. */
export function firstSeqAt(db: Database, at: number): number {
  const from = db.query<{ seq: number; at: number }, [number]>(
    'SELECT seq, created_at AS at FROM events WHERE seq >= ? ORDER BY seq LIMIT 1',
  )
  let low = from.get(0)?.seq ?? 1
  let high = (db.query<{ seq: number | null }, []>('SELECT max(seq) AS seq FROM events').get()?.seq ?? 0) + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const found = from.get(middle)
    if (found === null || found.at >= at) high = middle
    else low = found.seq + 1
  }
  return low
}
