import type { Database } from 'bun:sqlite'
import { tableOf } from '../../../platform/db/table.ts'

export type BackupStatus = 'creating' | 'available' | 'failed' | 'damaged' | 'deleting'
export type BackupOrigin = 'scheduled' | 'manual' | 'final'

/** One backup of a datastore. Times are milliseconds since 1970; positions in the log are as PostgreSQL writes them. */
export interface StoredBackup {
  id: string
  datastoreId: string
  /** Which cluster of the database it is of: see `FormerLineage`. */
  lineage: number
  kind: 'full' | 'incremental'
  parentId: string | null
  origin: BackupOrigin
  status: BackupStatus
  timeline: number | null
  startLsn: string | null
  endLsn: string | null
  createdAt: number
  completedAt: number | null
  plainBytes: number | null
  verifiedAt: number | null
  drilledAt: number | null
  drillMs: number | null
  reason: string | null
}

const backups = tableOf<StoredBackup>('backups', {
  id: 'id',
  datastoreId: 'datastore_id',
  lineage: 'lineage',
  kind: 'kind',
  parentId: 'parent_id',
  origin: 'origin',
  status: 'status',
  timeline: 'timeline',
  startLsn: 'start_lsn',
  endLsn: 'end_lsn',
  createdAt: 'created_at',
  completedAt: 'completed_at',
  plainBytes: 'plain_bytes',
  verifiedAt: 'verified_at',
  drilledAt: 'drilled_at',
  drillMs: 'drill_ms',
  reason: 'reason',
})

/** Backups of a datastore in every status, newest first. */
export const backupsOf = (db: Database, datastoreId: string): StoredBackup[] =>
  backups.all(db, 'WHERE datastore_id = $datastoreId ORDER BY id DESC', { datastoreId })

/** Backups of what a datastore is now, in every status, newest first: none from before an upgrade. */
export const currentBackups = (db: Database, { datastoreId, lineage }: Pick<StoredBackup, 'datastoreId' | 'lineage'>): StoredBackup[] =>
  backups.all(db, 'WHERE datastore_id = $datastoreId AND lineage = $lineage ORDER BY id DESC', { datastoreId, lineage })

/** Whether the last backup of a datastore that is to be deleted is written down and not ended. */
export const isLastBeingTaken = (db: Database, datastoreId: string): boolean =>
  backups.get(db, "WHERE datastore_id = $datastoreId AND origin = 'final' AND status = 'creating'", { datastoreId }) !== undefined

/** A page of all, without those that are being removed. */
export const pageOfBackups = (
  db: Database,
  datastoreId: string,
  { beforeId, limit }: { beforeId: string | undefined; limit: number },
): StoredBackup[] =>
  backups.all(
    db,
    "WHERE datastore_id = $datastoreId AND status <> 'deleting' AND ($beforeId IS NULL OR id < $beforeId) ORDER BY id DESC LIMIT $limit",
    { datastoreId, beforeId: beforeId ?? null, limit },
  )

/** A backup by id, whosever it is; undefined where there is none. */
export const backupById = (db: Database, id: string): StoredBackup | undefined => backups.get(db, 'WHERE id = $id', { id })

export type NewBackup = Pick<StoredBackup, 'id' | 'datastoreId' | 'kind' | 'parentId' | 'origin' | 'createdAt'> &
  Partial<Pick<StoredBackup, 'lineage'>>

/** Writes a backup down before it is taken. */
export function insertBackup(db: Database, backup: NewBackup): void {
  backups.insert(db, { ...backup, status: 'creating' })
}

/** Changes what is named. */
export function updateBackup(db: Database, id: string, change: Partial<Omit<StoredBackup, 'id' | 'datastoreId'>>): void {
  backups.update(db, { id }, change)
}

/** Forgets a backup, whose files must be gone before. */
export function removeBackupRow(db: Database, id: string): void {
  backups.remove(db, { id })
}
