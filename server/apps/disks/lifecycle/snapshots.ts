import { maxSnapshots } from '../../../../shared/disk.ts'
import { messageOf } from '../../../../shared/error.ts'
import type { AppContext } from '../../context.ts'
import { recordDiskEvent } from '../events.ts'
import { removeSnapshotRow, type StoredSnapshot, snapshotExpiresAt, snapshotsOf, updateSnapshot } from '../snapshot-store.ts'
import type { StoredDisk } from '../store.ts'

const DAY_MS = 24 * 60 * 60_000

/** When the next daily snapshot of a disk is due; one that failed counts, so that it is not tried all day. */
export function nextDailyAt(disk: StoredDisk, snapshots: readonly StoredSnapshot[]): number {
  const last = snapshots.find(({ origin }) => origin === 'daily')
  return (last?.createdAt ?? disk.createdAt) + DAY_MS
}

export async function takeSnapshot(context: AppContext, disk: StoredDisk, { key, origin }: StoredSnapshot): Promise<void> {
  const { volumes } = context.engine
  try {
    const sizeBytes = await volumes.snapshot(disk.id, key, context.stopping)
    context.db.transaction(() => {
      updateSnapshot(context.db, key, { status: 'available', sizeBytes })
      recordDiskEvent(context, disk, 'disk_snapshot_created', { snapshotKey: key, origin, sizeBytes })
    })()
  } catch (error) {
    if (context.stopping.aborted) throw error
    await volumes.removeSnapshot(disk.id, key)
    const reason = messageOf(error)
    context.log.error('snapshot not taken', { diskId: disk.id, reason })
    context.db.transaction(() => {
      updateSnapshot(context.db, key, { status: 'failed', reason })
      recordDiskEvent(context, disk, 'disk_snapshot_failed', { snapshotKey: key, origin, reason })
    })()
  }
}

/** Content replaced in a restore has its space reserved, until it is brought down to what it holds, if there is room for that. */
export async function compactReplaced({ db, engine, stopping }: AppContext, disk: StoredDisk): Promise<void> {
  for (const { key } of snapshotsOf(db, disk.id).filter((one) => one.status === 'available' && one.sizeBytes === null)) {
    const sizeBytes = await engine.volumes.compactSnapshot(disk.id, key, stopping)
    updateSnapshot(db, key, { status: 'available', sizeBytes })
  }
}

export async function pruneSnapshots({ db, engine, now }: AppContext, disk: StoredDisk): Promise<void> {
  const kept = snapshotsOf(db, disk.id).filter(({ status }) => status !== 'deleting')
  const expired = kept.filter((snapshot, index) => index >= maxSnapshots || snapshotExpiresAt(snapshot) <= now())
  for (const { key, status } of expired) if (status !== 'creating') updateSnapshot(db, key, { status: 'deleting' })
  for (const { key } of snapshotsOf(db, disk.id).filter(({ status }) => status === 'deleting')) {
    await engine.volumes.removeSnapshot(disk.id, key)
    removeSnapshotRow(db, key)
  }
}
