import type { Database } from 'bun:sqlite'
import type { Event, EventType } from '../../../shared/event.ts'
import { newId } from '../../platform/id.ts'
import { firstSeqAt } from './list.ts'
import { lowestNeeded } from './readers.ts'
import { events, type StoredEvent } from './rows.ts'
import { tellOfEvent } from './wake.ts'

export interface NewEvent {
  /** A service, database or key-value store, or only a workspace for what is of none. */
  owner: { id?: string; workspaceId: string }
  type: EventType
  details?: Record<string, unknown>
  now: number
}

/** A clock that is set back by less than this, in milliseconds, makes no event earlier than the one before it. */
const STEADY_MS = 60 * 60 * 1000

/** Writes down that something happened; belongs in the transaction that made it happen. */
export function recordEvent(db: Database, { owner, type, details = {}, now }: NewEvent): void {
  db.query(
    `INSERT INTO events (id, workspace_id, service_id, service_name, environment_id, type, details, created_at)
     VALUES ($id, $workspaceId, $serviceId,
       coalesce((SELECT name FROM services WHERE id = $serviceId), (SELECT name FROM datastores WHERE id = $serviceId),
         (SELECT service_name FROM events WHERE service_id = $serviceId ORDER BY seq DESC LIMIT 1)),
       coalesce((SELECT environment_id FROM services WHERE id = $serviceId),
         (SELECT environment_id FROM datastores WHERE id = $serviceId)), $type, $details,
       max($now, coalesce((SELECT created_at FROM events WHERE seq = (SELECT max(seq) FROM events) AND created_at < $now + $steadyMs), 0)))`,
  ).run({
    id: newId('event', now),
    workspaceId: owner.workspaceId,
    serviceId: owner.id ?? null,
    type,
    details: JSON.stringify(details),
    now,
    steadyMs: STEADY_MS,
  })
  tellOfEvent(db, owner.workspaceId)
}

/** From where on webhooks of a workspace have still to look at its events: one that is slow holds up nobody else's. */
const awaitedIn = (workspaceId: string): string =>
  `coalesce((SELECT min(cursor_seq) + 1 FROM webhooks
     WHERE workspace_id = ${workspaceId} AND is_enabled = 1 AND deleted_at IS NULL), ${Number.MAX_SAFE_INTEGER})`

/** Forgets events of these types beyond the newest `count` of a service, for what happens again and again. */
export function forgetOldEvents(
  db: Database,
  { serviceId, types, count }: { serviceId: string; types: readonly EventType[]; count: number },
): void {
  const ofTypes = 'service_id = $serviceId AND type IN (SELECT value FROM json_each($types))'
  db.query(
    `DELETE FROM events WHERE ${ofTypes} AND seq < $needed AND seq < ${awaitedIn('events.workspace_id')}
     AND seq <= (SELECT seq FROM events WHERE ${ofTypes} ORDER BY seq DESC LIMIT 1 OFFSET $count)`,
  ).run({ serviceId, types: JSON.stringify(types), count, needed: lowestNeeded(db) })
}

/** Forgets up to `count` events from before `before` (ms since 1970), those that every reader has had. Returns how many. */
export function forgetEventsBefore(db: Database, { before, count }: { before: number; count: number }): number {
  const end = Math.min(lowestNeeded(db), firstSeqAt(db, before))
  return db
    .query(
      `WITH RECURSIVE owners (id) AS (
         SELECT min(workspace_id) FROM events
         UNION ALL SELECT (SELECT min(workspace_id) FROM events WHERE workspace_id > owners.id) FROM owners WHERE owners.id IS NOT NULL)
       DELETE FROM events WHERE seq IN (
         SELECT events.seq FROM owners CROSS JOIN events
           ON events.workspace_id = owners.id AND events.seq < min($end, ${awaitedIn('owners.id')})
         WHERE events.created_at < $before LIMIT $count)`,
    )
    .run({ before, count, end }).changes
}

/** Forgets up to `count` events of a workspace, for one that is removed. Returns how many. */
export const forgetEventsOf = (db: Database, workspaceId: string, count: number): number =>
  db
    .query('DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE workspace_id = $workspaceId LIMIT $count)')
    .run({ workspaceId, count }).changes

/** When something of this type happened last to a service or datastore (ms since 1970); undefined where it is not known to have. */
export const newestEventAt = (db: Database, id: string, type: EventType): number | undefined =>
  db
    .query<{ at: number }, [string, string]>(
      'SELECT created_at AS at FROM events WHERE service_id = ? AND type = ? ORDER BY seq DESC LIMIT 1',
    )
    .get(id, type)?.at

/** An event of this workspace; undefined where it has none of this id. */
export const findEvent = (db: Database, workspaceId: string, id: string): StoredEvent | undefined =>
  events.get(db, 'WHERE id = $id AND workspace_id = $workspaceId', { workspaceId, id })

/** An event as callers see it. */
export const presentEvent = ({ id, timestamp, serviceId, serviceName, environmentId, type, details }: StoredEvent): Event => ({
  id,
  timestamp,
  ...(serviceId !== null && { serviceId }),
  ...(serviceName !== null && { serviceName }),
  ...(environmentId !== null && { environmentId }),
  type,
  details,
})
