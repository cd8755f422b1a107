import type { Database } from 'bun:sqlite'
import { type Event, type EventQuery, type EventType, wellKnownEventTypes } from '../../../shared/event.ts'
import { newId } from '../../platform/id.ts'

interface EventRow {
  id: string
  service_id: string
  type: EventType
  details: string
  created_at: number
}

export interface NewEvent {
  service: { id: string; workspaceId: string }
  type: EventType
  details?: Record<string, unknown>
  now: number
}

/** Writes down that something happened to a service; belongs into the transaction that made it happen. */
export function recordEvent(db: Database, { service, type, details, now }: NewEvent): void {
  db.query('INSERT INTO events (id, workspace_id, service_id, type, details, created_at) VALUES (?, ?, ?, ?, ?, ?)').run(
    newId('event', now),
    service.workspaceId,
    service.id,
    type,
    JSON.stringify(details ?? {}),
    now,
  )
}

/** Forgets events of these types beyond the newest `count` of a service, for what happens again and again. */
export function forgetOldEvents(
  db: Database,
  { serviceId, types, count }: { serviceId: string; types: readonly EventType[]; count: number },
): void {
  const ofTypes = 'service_id = $serviceId AND type IN (SELECT value FROM json_each($types))'
  db.query(
    `DELETE FROM events WHERE ${ofTypes} AND id <= (SELECT id FROM events WHERE ${ofTypes} ORDER BY id DESC LIMIT 1 OFFSET $count)`,
  ).run({ serviceId, types: JSON.stringify(types), count })
}

/** One event of a workspace. */
export function findEvent(db: Database, workspaceId: string, id: string): Event | undefined {
  const row = db.query<EventRow, [string, string]>('SELECT * FROM events WHERE id = ? AND workspace_id = ?').get(id, workspaceId)
  return row === null ? undefined : present(row)
}

/** Events of a service of the types named, else of the well-known ones; newest first, those before `beforeId` when it is given. */
export function listEvents(db: Database, serviceId: string, query: EventQuery & { beforeId: string | undefined; limit: number }): Event[] {
  return db
    .query<EventRow, Record<string, string | number | null>>(
      `SELECT * FROM events WHERE service_id = $serviceId
       AND type IN (SELECT value FROM json_each($types))
       AND created_at >= $startTime AND created_at <= $endTime
       AND ($beforeId IS NULL OR id < $beforeId)
       ORDER BY id DESC LIMIT $limit`,
    )
    .all({
      serviceId,
      types: JSON.stringify(query.type ?? wellKnownEventTypes),
      startTime: query.startTime === undefined ? 0 : Date.parse(query.startTime),
      endTime: query.endTime === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(query.endTime),
      beforeId: query.beforeId ?? null,
      limit: query.limit,
    })
    .map(present)
}

const present = (row: EventRow): Event => ({
  id: row.id,
  timestamp: new Date(row.created_at).toISOString(),
  serviceId: row.service_id,
  type: row.type,
  details: JSON.parse(row.details) as Record<string, unknown>,
})
