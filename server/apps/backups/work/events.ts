import type { DatastoreEventType } from '../../../../shared/event.ts'
import type { AppContext } from '../../context.ts'
import type { DatastoreKind } from '../../datastores/store.ts'
import { recordEvent } from '../../events/store.ts'

const types = {
  postgres: {
    started: 'postgres_backup_started',
    completed: 'postgres_backup_completed',
    failed: 'postgres_backup_failed',
    verified: 'postgres_backup_verified',
    damaged: 'postgres_backup_damaged',
    restored: 'postgres_restore_succeeded',
    restoreFailed: 'postgres_restore_failed',
    copyFailed: 'postgres_backup_copy_failed',
    copyResumed: 'postgres_backup_copy_resumed',
    logFailed: 'postgres_wal_archive_failed',
    logResumed: 'postgres_wal_archive_resumed',
  },
  key_value: {
    started: 'key_value_backup_started',
    completed: 'key_value_backup_completed',
    failed: 'key_value_backup_failed',
    verified: 'key_value_backup_verified',
    damaged: 'key_value_backup_damaged',
    copyFailed: 'key_value_backup_copy_failed',
    copyResumed: 'key_value_backup_copy_resumed',
    restored: 'key_value_restore_succeeded',
    restoreFailed: 'key_value_restore_failed',
  },
} as const satisfies Record<DatastoreKind, Record<string, DatastoreEventType>>

type BackupEvent = keyof (typeof types)['postgres']

export interface Concerned {
  datastoreId: string
  kind: DatastoreKind
  workspaceId: string
  name: string
}

export function recordBackupEvent(
  { db, now }: Pick<AppContext, 'db' | 'now'>,
  { datastoreId, kind, workspaceId, name }: Concerned,
  event: BackupEvent,
  details: Record<string, unknown>,
): void {
  const ofKind: Partial<Record<BackupEvent, DatastoreEventType>> = types[kind]
  const type = ofKind[event]
  if (type !== undefined) recordEvent(db, { owner: { id: datastoreId, workspaceId }, type, details: { name, ...details }, now: now() })
}
