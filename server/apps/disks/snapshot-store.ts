import type { Database } from 'bun:sqlite'
import { keptSnapshotDays, type SnapshotOrigin, type SnapshotStatus } from '../../../shared/disk.ts'
import { tableOf } from '../../platform/db/table.ts'

/** A snapshot as it is kept. Times are milliseconds since 1970. */
export interface StoredSnapshot {
  key: string
  diskId: string
  status: SnapshotStatus
  origin: SnapshotOrigin
  reason: string | null
  sizeBytes: number | null
  createdAt: number
}

const KEPT_MS = keptSnapshotDays * 24 * 60 * 60_000

/** In milliseconds since 1970. */
export const snapshotExpiresAt = ({ createdAt }: Pick<StoredSnapshot, 'createdAt'>): number => createdAt + KEPT_MS

const snapshots = tableOf<StoredSnapshot>('disk_snapshots', {
  key: 'key',
  diskId: 'disk_id',
  status: 'status',
  origin: 'origin',
  reason: 'reason',
  sizeBytes: 'size_bytes',
  createdAt: 'created_at',
})

export type NewSnapshot = Pick<StoredSnapshot, 'key' | 'diskId' | 'status' | 'origin' | 'createdAt'>

/** Writes a snapshot down before it is taken. */
export function insertSnapshot(db: Database, snapshot: NewSnapshot): void {
  snapshots.insert(db, snapshot)
}

/** Snapshots of a disk in every status, newest first. */
export const snapshotsOf = (db: Database, diskId: string): StoredSnapshot[] =>
  snapshots.all(db, 'WHERE disk_id = $diskId ORDER BY key DESC', { diskId })

/** A snapshot of this disk by its key; undefined where it has none. */
export const findSnapshot = (db: Database, diskId: string, key: string): StoredSnapshot | undefined =>
  snapshots.get(db, 'WHERE disk_id = $diskId AND key = $key', { diskId, key })

/** Writes down how a snapshot stands; without a reason there is none, and without a size the one before stays. */
export function updateSnapshot(
  db: Database,
  key: string,
  { status, reason, ...size }: { status: SnapshotStatus; reason?: string; sizeBytes?: number },
): void {
  snapshots.update(db, { key }, { status, reason: reason ?? null, ...size })
}

/** Forgets a snapshot, whose files must be gone before. */
export function removeSnapshotRow(db: Database, key: string): void {
  snapshots.remove(db, { key })
}
