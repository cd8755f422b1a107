import type { DatastoreEventType } from '../../../shared/event.ts'
import type { AppContext } from '../context.ts'
import { recordEvent } from '../events/store.ts'
import type { DatastoreKind, StoredDatastore } from './store.ts'

const ofPostgres = {
  created: 'postgres_created',
  available: 'postgres_available',
  unavailable: 'postgres_unavailable',
  restarted: 'postgres_restarted',
  suspended: 'postgres_suspended',
  resumed: 'postgres_resumed',
  deleted: 'postgres_deleted',
  planChanged: 'postgres_plan_changed',
  resized: 'postgres_disk_size_changed',
  resizeFailed: 'postgres_disk_resize_failed',
  nearlyFull: 'postgres_disk_nearly_full',
  full: 'postgres_disk_full',
  writable: 'postgres_disk_writable',
} as const satisfies Record<string, DatastoreEventType>

export type CommonEvent = keyof typeof ofPostgres | 'configRestart'

/** What happens to datastores of all kinds, by its name for each; absent where nobody needs to be told. */
const types: Record<DatastoreKind, Partial<Record<CommonEvent, DatastoreEventType>>> = {
  postgres: ofPostgres,
  key_value: {
    created: 'key_value_created',
    available: 'key_value_available',
    unavailable: 'key_value_unhealthy',
    restarted: 'key_value_restarted',
    suspended: 'key_value_suspended',
    resumed: 'key_value_resumed',
    deleted: 'key_value_deleted',
    planChanged: 'key_value_plan_changed',
    configRestart: 'key_value_config_restart',
    nearlyFull: 'key_value_disk_nearly_full',
    full: 'key_value_disk_full',
    writable: 'key_value_disk_writable',
  },
}

/** Belongs in the transaction that made it happen. Nobody is told of standbys, whom nobody sees. */
export function recordDatastoreEvent(
  { db, now }: Pick<AppContext, 'db' | 'now'>,
  { id, kind, name, workspaceId, role }: StoredDatastore,
  event: CommonEvent,
  details: Record<string, unknown> = {},
): void {
  const type = types[kind][event]
  if (type !== undefined && role !== 'standby')
    recordEvent(db, { owner: { id, workspaceId }, type, details: { name, ...details }, now: now() })
}
