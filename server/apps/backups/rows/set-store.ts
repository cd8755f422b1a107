import type { Database } from 'bun:sqlite'
import { flag } from '../../../platform/db/codec.ts'
import { tableOf } from '../../../platform/db/table.ts'

/** All backups of one datastore, which may be gone. Times are milliseconds since 1970. */
export interface BackupSet {
  datastoreId: string
  kind: 'postgres' | 'key_value'
  workspaceId: string
  environmentId: string | null
  name: string
  version: string
  recipient: string
  recipeSealed: string
  problem: string | null
  createdAt: number
  keptUntil: number | null
  isRemoving: boolean
}

const sets = tableOf<BackupSet>('backup_sets', {
  datastoreId: 'datastore_id',
  kind: 'kind',
  workspaceId: 'workspace_id',
  environmentId: 'environment_id',
  name: 'name',
  version: 'version',
  recipient: 'recipient',
  recipeSealed: 'recipe_sealed',
  problem: 'problem',
  createdAt: 'created_at',
  keptUntil: 'kept_until',
  isRemoving: { column: 'is_removing', as: flag },
})

/** The backups of a datastore, there or gone; undefined where none were ever taken. */
export const backupSetOf = (db: Database, datastoreId: string): BackupSet | undefined =>
  sets.get(db, 'WHERE datastore_id = $datastoreId', { datastoreId })

/** Begins a set, unless there is one of this datastore. */
export function ensureBackupSet(db: Database, set: Omit<BackupSet, 'problem' | 'keptUntil' | 'isRemoving'>): void {
  sets.insert(db, set, 'ON CONFLICT DO NOTHING')
}

/** Changes what is named. */
export function updateBackupSet(db: Database, datastoreId: string, change: Partial<Omit<BackupSet, 'datastoreId'>>): void {
  sets.update(db, { datastoreId }, change)
}
