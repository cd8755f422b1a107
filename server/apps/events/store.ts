import type { Database } from 'bun:sqlite'
import { Type } from '@sinclair/typebox'
import { type Event, type EventQuery, type EventType, wellKnownEventTypes } from '../../../shared/event.ts'
import { isoTime } from '../../platform/db/codec.ts'
import { json } from '../../platform/db/json-column.ts'
import { tableOf } from '../../platform/db/table.ts'
import { newId } from '../../platform/id.ts'
import type { Owner } from '../../runtime/owner.ts'

interface StoredEvent extends Event {
  workspaceId: string
}

const events = tableOf<StoredEvent>('events', {
  id: 'id',
  workspaceId: 'workspace_id',
  serviceId: 'service_id',
  type: 'type',
  details: { column: 'details', as: json({ schema: Type.Record(Type.String(), Type.Unknown()) }) },
  timestamp: { column: 'created_at', as: isoTime },
})

export interface NewEvent {
  owner: Pick<Owner, 'id' | 'workspaceId'>
  type: EventType
  details?: Record<string, unknown>
  now: number
}

/** Writes down that something happened to an owner; belongs in the transaction that made it happen. */
export function recordEvent(db: Database, { owner, type, details = {}, now }: NewEvent): void {
  const { id: serviceId, workspaceId } = owner
  const timestamp = new Date(now).toISOString()
  events.insert(db, { id: newId('event', now), workspaceId, serviceId, type, details, timestamp })
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

/** An event of this workspace; undefined where it has none of this id. */
export function findEvent(db: Database, workspaceId: string, id: string): Event | undefined {
  const event = events.get(db, 'WHERE id = $id AND workspace_id = $workspaceId', { workspaceId, id })
  return event === undefined ? undefined : shown(event)
}

/** Events of a service of the types named, else of the well-known ones; newest first, those before `beforeId` when it is given. */
export function listEvents(db: Database, serviceId: string, query: EventQuery & { beforeId: string | undefined; limit: number }): Event[] {
  const found = events.all(
    db,
    `WHERE service_id = $serviceId
     AND type IN (SELECT value FROM json_each($types))
     AND created_at >= $startTime AND created_at <= $endTime
     AND ($beforeId IS NULL OR id < $beforeId)
     ORDER BY id DESC LIMIT $limit`,
    {
      serviceId,
      types: JSON.stringify(query.type ?? wellKnownEventTypes),
      startTime: query.startTime === undefined ? 0 : Date.parse(query.startTime),
      endTime: query.endTime === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(query.endTime),
      beforeId: query.beforeId ?? null,
      limit: query.limit,
    },
  )
  return found.map(shown)
}

const shown = ({ workspaceId: _, ...event }: StoredEvent): Event => event
