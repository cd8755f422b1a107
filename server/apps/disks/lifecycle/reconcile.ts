/**
 * Brings one disk to what is written down of it: made, grown, given to another owner, replaced by a snapshot, or removed. Each is written down
 * before it is begun, can be begun again, and is done only while no instance has the disk, which the plan of the service sees to. Then the
 * snapshots that are due.
 */
import { AppError } from '../../../../shared/error.ts'
import { newId } from '../../../platform/id.ts'
import { describeError } from '../../../platform/server-log.ts'
import { workloadsOf } from '../../../runtime/workloads/store.ts'
import type { AppContext } from '../../context.ts'
import { listEvents } from '../../events/list.ts'
import { serviceById } from '../../services/store.ts'
import { INSTANCE } from '../../workloads/instance-store.ts'
import { JOB } from '../../workloads/job-store.ts'
import { PRE_DEPLOY } from '../../workloads/step-store.ts'
import { recordDiskEvent } from '../events.ts'
import { keepDisk } from '../operations.ts'
import { requestSnapshot } from '../request-snapshot.ts'
import { insertSnapshot, snapshotExpiresAt, snapshotsOf } from '../snapshot-store.ts'
import { type DiskChange, diskById, isPreparingRestore, ownerOfDisk, removeDiskRow, type StoredDisk, updateDisk } from '../store.ts'
import { compactReplaced, nextDailyAt, pruneSnapshots, takeSnapshot } from './snapshots.ts'

const WAIT_MS = 50

/** Returns when the disk is due again though nothing happens (ms since 1970), or undefined. */
export async function reconcileDisk(context: AppContext, diskId: string): Promise<number | undefined> {
  const disk = diskById(context.db, diskId)
  if (disk === undefined) return undefined
  if (disk.status === 'available') return await keepSnapshots(context, disk)
  if (isPreparingRestore(disk)) {
    await orRecordFailure(context, disk, () => prepare(context, disk))
    return context.now()
  }
  if (disk.status !== 'creating' && (await isInUse(context, disk))) {
    context.work.poke('service', disk.serviceId)
    return context.now() + WAIT_MS
  }
  await change(context, disk)
  context.work.poke('service', disk.serviceId)
  return context.now()
}

const mayHaveDisk: ReadonlySet<string> = new Set([INSTANCE.purpose, JOB.purpose, PRE_DEPLOY.purpose])

/** The machine may need a moment after the last user has gone. */
async function isInUse({ db, engine, work }: AppContext, disk: StoredDisk): Promise<boolean> {
  const users = workloadsOf(db, 'service', disk.serviceId).filter(({ purpose }) => mayHaveDisk.has(purpose))
  if (users.length > 0 || work.takenDisks.countOf(disk.serviceId) > 0) return true
  return await engine.volumes.isInUse(disk.id)
}

async function change(context: AppContext, disk: StoredDisk): Promise<void> {
  switch (disk.status) {
    case 'creating':
      return await make(context, disk)
    case 'resizing':
      return await orRecordFailure(context, disk, () => grow(context, disk))
    case 'restoring':
      return await restore(context, disk)
    case 'attaching':
      return await attach(context, disk)
    case 'deleting':
      return await remove(context, disk)
    case 'available':
      return
    default:
      return disk.status satisfies never
  }
}

/** There is nothing to go back to: it is tried again and again, at growing intervals. */
async function make(context: AppContext, disk: StoredDisk): Promise<void> {
  try {
    const { id, kind, sizeGb } = disk
    await context.engine.volumes.make({ id, kind, sizeGb, owner: ownerOfDisk(disk) })
  } catch (error) {
    if (!context.stopping.aborted) recordOnce(context, disk, reasonOf(error))
    throw error
  }
  const { mountPath, sizeGb: sizeGB } = disk
  context.db.transaction(() => {
    settle(context, disk)
    recordDiskEvent(context, disk, 'disk_created', { mountPath, sizeGB })
  })()
}

async function grow(context: AppContext, disk: StoredDisk): Promise<void> {
  const sizeGb = disk.growToGb ?? disk.sizeGb
  await context.engine.volumes.grow(disk.id, { fromGb: disk.sizeGb, toGb: sizeGb })
  context.db.transaction(() => {
    settle(context, disk, { sizeGb })
    recordDiskEvent(context, disk, 'disk_resized', { fromGB: disk.sizeGb, toGB: sizeGb })
  })()
}

async function prepare(context: AppContext, disk: StoredDisk): Promise<void> {
  const { restoreKey: key, sizeGb } = disk
  if (key !== null) await context.engine.volumes.prepareRestore(disk.id, { key, sizeGb })
  updateDisk(context.db, disk.id, { replacedKey: newId('diskSnapshot', context.now()) }, context.now())
}

async function restore(context: AppContext, disk: StoredDisk): Promise<void> {
  const { restoreKey: snapshot, replacedKey: replaced } = disk
  if (snapshot === null || replaced === null) return settle(context, disk)
  const { volumes } = context.engine
  try {
    await volumes.restore(disk.id, { key: snapshot, keepAs: replaced, sizeGb: disk.sizeGb })
  } catch (error) {
    // Once today's content is out of its place there is no way back: the driver tries again until the other is in it.
    if ((await volumes.listSnapshots(disk.id)).includes(replaced)) throw error
    return recordFailure(context, disk, error)
  }
  context.db.transaction(() => {
    insertSnapshot(context.db, { key: replaced, diskId: disk.id, status: 'available', origin: 'before_restore', createdAt: context.now() })
    settle(context, disk)
    recordDiskEvent(context, disk, 'disk_restored', { snapshotKey: snapshot, replacedKey: replaced })
  })()
}

/** The files are the new owner's before anybody of the new service can see them. */
async function attach(context: AppContext, disk: StoredDisk): Promise<void> {
  await context.engine.volumes.give(disk.id, ownerOfDisk(disk))
  context.db.transaction(() => {
    settle(context, disk)
    recordDiskEvent(context, disk, 'disk_attached', { mountPath: disk.mountPath })
  })()
}

async function remove(context: AppContext, disk: StoredDisk): Promise<void> {
  await context.engine.volumes.remove(disk.id)
  context.db.transaction(() => {
    removeDiskRow(context.db, disk.id)
    recordDiskEvent(context, disk, 'disk_deleted')
    const { id: target, name, workspaceId, serviceId, keptUntil } = disk
    const reason = keptUntil === null ? 'on request' : 'its service was deleted, and it was kept for as long as promised'
    context.audit.system({ event: 'disk.removed', workspaceId, target, metadata: { name, serviceId, reason } })
  })()
}

function settle(context: AppContext, disk: StoredDisk, changes: DiskChange = {}): void {
  if (diskById(context.db, disk.id)?.status !== disk.status) return
  const nothingOpen = { status: 'available', growToGb: null, restoreKey: null, replacedKey: null } as const
  updateDisk(context.db, disk.id, { ...nothingOpen, ...changes }, context.now())
}

async function orRecordFailure(context: AppContext, disk: StoredDisk, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    recordFailure(context, disk, error)
  }
}

function recordFailure(context: AppContext, disk: StoredDisk, error: unknown): void {
  if (context.stopping.aborted) throw error
  context.log.error('disk not changed', { diskId: disk.id, status: disk.status, ...describeError(error) })
  const reason = reasonOf(error)
  context.db.transaction(() => {
    settle(context, disk)
    recordDiskEvent(context, disk, disk.status === 'resizing' ? 'disk_resize_failed' : 'disk_restore_failed', { reason })
  })()
}

const reasonOf = (error: unknown): string =>
  error instanceof AppError ? error.message : 'The platform failed at it; its own log says why. Try again.'

function recordOnce(context: AppContext, disk: StoredDisk, reason: string): void {
  const type = 'disk_create_failed'
  const [last] = listEvents(context.db, { by: 'service_id', values: [disk.serviceId], types: [type] }, { limit: 1 })
  const { diskId, reason: told } = last?.details ?? {}
  if (diskId === disk.id && told === reason) return
  recordDiskEvent(context, disk, type, { reason })
}

async function keepSnapshots(context: AppContext, disk: StoredDisk): Promise<number | undefined> {
  const { db, now } = context
  if (disk.deletedAt === null && serviceById(db, disk.serviceId) === undefined) keepDisk(context, { id: disk.serviceId })
  if (disk.keptUntil !== null && disk.keptUntil <= now()) {
    updateDisk(db, disk.id, { status: 'deleting' }, now())
    return now()
  }
  const hasDaily = disk.deletedAt === null && context.engine.volumes.capabilities.snapshots
  if (hasDaily && nextDailyAt(disk, snapshotsOf(db, disk.id)) <= now()) requestSnapshot(context, disk, 'daily')
  const [wanted] = snapshotsOf(db, disk.id).filter(({ status }) => status === 'creating')
  if (wanted !== undefined) {
    await takeSnapshot(context, disk, wanted)
    return now()
  }
  await pruneSnapshots(context, disk)
  await compactReplaced(context, disk)
  const snapshots = snapshotsOf(db, disk.id)
  const due = [...snapshots.map(snapshotExpiresAt), ...(hasDaily ? [nextDailyAt(disk, snapshots)] : []), disk.keptUntil ?? []].flat()
  return due.length === 0 ? undefined : Math.min(...due)
}
