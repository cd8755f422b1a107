import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { maxSnapshots, type SnapshotOrigin } from '../../../shared/disk.ts'
import { AppError, messageOf } from '../../../shared/error.ts'
import { newId } from '../../platform/id.ts'
import { whileThereIsRoom } from '../../runtime/space/room.ts'
import type { AppContext } from '../context.ts'
import { unfinishedDeploys } from '../deploys/store.ts'
import { recordDiskEvent } from '../disks/events.ts'
import { loopDeviceOf } from '../disks/loop-device.ts'
import { withMountedImage } from '../disks/mounted-image.ts'
import { diskPathsOf } from '../disks/paths.ts'
import {
  insertSnapshot,
  removeSnapshotRow,
  type StoredSnapshot,
  snapshotExpiresAt,
  snapshotsOf,
  updateSnapshot,
} from '../disks/snapshot-store.ts'
import { contentOf, copyContent, removeSnapshotFiles, sizeOnServer } from '../disks/storage.ts'
import type { StoredDisk } from '../disks/store.ts'
import { instancesOf } from '../workloads/instance-store.ts'

const DAY_MS = 24 * 60 * 60_000
/** Writes of the app wait while an image is copied; on a file system that shares blocks (XFS, btrfs) that is a moment. */
const LONGEST_FREEZE_MS = 60_000

/** When the next daily snapshot of a disk is due; one that failed counts, so that it is not tried all day. */
export function nextDailyAt(disk: StoredDisk, snapshots: readonly StoredSnapshot[]): number {
  const last = snapshots.find(({ origin }) => origin === 'daily')
  return (last?.createdAt ?? disk.createdAt) + DAY_MS
}

export function requestSnapshot({ db, now }: Pick<AppContext, 'db' | 'now'>, disk: StoredDisk, origin: SnapshotOrigin): string {
  const createdAt = now()
  const key = newId('diskSnapshot', createdAt)
  insertSnapshot(db, { key, diskId: disk.id, status: 'creating', origin, createdAt })
  return key
}

export async function takeSnapshot(context: AppContext, disk: StoredDisk, { key, origin }: StoredSnapshot): Promise<void> {
  const own = diskPathsOf(context.paths, disk.id)
  const target = join(own.snapshots, key)
  try {
    await copyInRoom(context, (signal) =>
      disk.isImage ? copyImage(context, disk, { target, signal }) : copyContent(disk, { from: own.folder, to: target, signal }),
    )
    const sizeBytes = await sizeOnServer(target)
    context.db.transaction(() => {
      updateSnapshot(context.db, key, { status: 'available', sizeBytes })
      recordDiskEvent(context, disk, 'disk_snapshot_created', { snapshotKey: key, origin, sizeBytes })
    })()
  } catch (error) {
    if (context.stopping.aborted) throw error
    await removeSnapshotFiles(context.paths, disk.id, key)
    const reason = messageOf(error)
    context.log.error('snapshot not taken', { diskId: disk.id, reason })
    context.db.transaction(() => {
      updateSnapshot(context.db, key, { status: 'failed', reason })
      recordDiskEvent(context, disk, 'disk_snapshot_failed', { snapshotKey: key, origin, reason })
    })()
  }
}

const need = { what: 'the snapshot', advice: 'Delete older ones, or free some space.' }

/** A copy that takes what the server needs is given up: the apps on it need that more. */
const copyInRoom = (context: AppContext, copy: (signal: AbortSignal) => Promise<void>): Promise<void> =>
  whileThereIsRoom(context, need, (short) => copy(AbortSignal.any([short, context.stopping])))

interface Copy {
  target: string
  signal: AbortSignal
}

const COPY_TRIES = 5

/** An image is copied while nothing changes it: with writes held back while it is mounted, and again when it was mounted meanwhile. */
async function copyImage(context: AppContext, disk: StoredDisk, copy: Copy): Promise<void> {
  for (let tries = 0; tries < COPY_TRIES; tries++) {
    if (await copyQuietImage(context, disk, copy)) return
    await rm(copy.target, { force: true })
  }
  throw new AppError('unavailable', 'The service was started and stopped while the disk was copied. Try again when it is steady.')
}

async function copyQuietImage(context: AppContext, disk: StoredDisk, { target, signal }: Copy): Promise<boolean> {
  const own = diskPathsOf(context.paths, disk.id)
  const image = contentOf(disk, own)
  const before = usesOf(context, disk)
  const device = loopDeviceOf(image)
  if (device === undefined) {
    await copyContent(disk, { from: image, to: target, signal })
    return before === usesOf(context, disk) && loopDeviceOf(image) === undefined
  }
  await withMountedImage({ source: device, mountPoint: own.mountPoint }, async ({ freeze }) => {
    await freeze()
    await copyInTime(disk, { from: image, to: target, signal })
  })
  return true
}

async function copyInTime(disk: StoredDisk, { signal, ...copy }: { from: string; to: string; signal: AbortSignal }): Promise<void> {
  const late = AbortSignal.timeout(LONGEST_FREEZE_MS)
  try {
    await copyContent(disk, { ...copy, signal: AbortSignal.any([late, signal]) })
  } catch (error) {
    if (!late.aborted) throw error
    const advice = 'Suspend the service for it, or keep the data on XFS or btrfs, where a copy takes no time'
    throw new AppError(
      'unavailable',
      `The disk was not copied within ${LONGEST_FREEZE_MS / 1000} s, and the app was not to wait for longer. ${advice}.`,
    )
  }
}

function usesOf({ db }: AppContext, disk: StoredDisk): string {
  const instances = instancesOf(db, disk.serviceId).filter(({ phase }) => phase !== 'pending')
  const deploys = unfinishedDeploys(db, disk.serviceId).filter(({ strategy }) => strategy === 'stop_first')
  return [...instances.map(({ id, startedAt }) => `${id} ${startedAt}`), ...deploys.map(({ id, status }) => `${id} ${status}`)].join()
}

/** Content replaced in a restore has its space reserved, until it is copied down to what it holds, if there is room for that. */
export async function compactReplaced(context: AppContext, disk: StoredDisk): Promise<void> {
  const { snapshots } = diskPathsOf(context.paths, disk.id)
  for (const { key } of snapshotsOf(context.db, disk.id).filter((one) => one.status === 'available' && one.sizeBytes === null)) {
    const path = join(snapshots, key)
    if (disk.isImage) await copyInRoom(context, (signal) => copyContent(disk, { from: path, to: path, signal })).catch(() => {})
    context.stopping.throwIfAborted()
    updateSnapshot(context.db, key, { status: 'available', sizeBytes: await sizeOnServer(path) })
  }
}

export async function pruneSnapshots(context: AppContext, disk: StoredDisk): Promise<void> {
  const kept = snapshotsOf(context.db, disk.id).filter(({ status }) => status !== 'deleting')
  const expired = kept.filter((snapshot, index) => index >= maxSnapshots || snapshotExpiresAt(snapshot) <= context.now())
  for (const { key, status } of expired) if (status !== 'creating') updateSnapshot(context.db, key, { status: 'deleting' })
  for (const { key } of snapshotsOf(context.db, disk.id).filter(({ status }) => status === 'deleting')) {
    await removeSnapshotFiles(context.paths, disk.id, key)
    removeSnapshotRow(context.db, key)
  }
}
