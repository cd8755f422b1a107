import type { Database } from 'bun:sqlite'
import { keptSnapshotDays, type SnapshotOrigin, type SnapshotStatus } from '../../../shared/disk.ts'

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

/** Until when a snapshot is kept, in milliseconds since 1970. */
export const snapshotExpiresAt = ({ createdAt }: Pick<StoredSnapshot, 'createdAt'>): number => createdAt + KEPT_MS

interface SnapshotRow {
  key: string
  disk_id: string
  status: SnapshotStatus
  origin: SnapshotOrigin
  reason: string | null
  size_bytes: number | null
  created_at: number
}

export type NewSnapshot = Pick<StoredSnapshot, 'key' | 'diskId' | 'status' | 'origin' | 'createdAt'>

/** Writes down that a snapshot is to be taken, or is there. */
export function insertSnapshot(db: Database, snapshot: NewSnapshot): void {
  db.query(
    'INSERT INTO disk_snapshots (key, disk_id, status, origin, created_at) VALUES ($key, $diskId, $status, $origin, $createdAt)',
  ).run({
    ...snapshot,
  })
}

/** Snapshots of a disk, newest first. */
export function snapshotsOf(db: Database, diskId: string): StoredSnapshot[] {
  return db.query<SnapshotRow, [string]>('SELECT * FROM disk_snapshots WHERE disk_id = ? ORDER BY key DESC').all(diskId).map(present)
}

/** One snapshot of a disk. */
export function findSnapshot(db: Database, diskId: string, key: string): StoredSnapshot | undefined {
  const row = db.query<SnapshotRow, [string, string]>('SELECT * FROM disk_snapshots WHERE disk_id = ? AND key = ?').get(diskId, key)
  return row === null ? undefined : present(row)
}

/** Writes down how a snapshot stands. */
export function updateSnapshot(
  db: Database,
  key: string,
  { status, reason, sizeBytes }: { status: SnapshotStatus; reason?: string; sizeBytes?: number },
): void {
  db.query('UPDATE disk_snapshots SET status = ?, reason = ?, size_bytes = coalesce(?, size_bytes) WHERE key = ?').run(
    status,
    reason ?? null,
    sizeBytes ?? null,
    key,
  )
}

/** Forgets a snapshot, whose files must be gone before. */
export function removeSnapshotRow(db: Database, key: string): void {
  db.query('DELETE FROM disk_snapshots WHERE key = ?').run(key)
}

const present = (row: SnapshotRow): StoredSnapshot => ({
  key: row.key,
  diskId: row.disk_id,
  status: row.status,
  origin: row.origin,
  reason: row.reason,
  sizeBytes: row.size_bytes,
  createdAt: row.created_at,
})
