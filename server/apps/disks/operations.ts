import { type DiskCreate, type DiskPatch, keptDiskDays } from '../../../shared/disk.ts'
import { AppError, invalidValue } from '../../../shared/error.ts'
import { traitsOf } from '../../../shared/service-type.ts'
import { withinQuotas } from '../../identity/quotas/enforce.ts'
import { refuseProtected, requireProtectedRight, type Viewer } from '../../identity/scopes/protection.ts'
import { isWithin } from '../../identity/scopes/scope.ts'
import { newId } from '../../platform/id.ts'
import type { Owner } from '../../runtime/owner.ts'
import type { AppContext } from '../context.ts'
import { requireService } from '../services/require.ts'
import { placeOf, type StoredService, serviceById } from '../services/store.ts'
import { refuseBadPath, refuseBadSize } from './checks.ts'
import { recordDiskEvent } from './events.ts'
import { placeOfDisk } from './place.ts'
import { requestSnapshot } from './request-snapshot.ts'
import { findSnapshot, type StoredSnapshot, updateSnapshot } from './snapshot-store.ts'
import { diskById, diskOfService, findDisk, insertDisk, type StoredDisk, updateDisk } from './store.ts'

const KEPT_MS = keptDiskDays * 24 * 60 * 60_000

type NewDisk = Omit<DiskCreate, 'serviceId'>
type Taker = Pick<StoredService, 'type' | 'numInstances'>

const inBody = (field: string): string => `/${field}`

/** @throws AppError validation_failed naming the field, conflict for a service of several instances. */
export function checkNewDisk(context: AppContext, owner: Taker, disk: NewDisk, at = inBody): void {
  refuseOwner(owner, at)
  refuseBadPath(context, disk.mountPath, at)
  refuseBadSize(context, { sizeGb: disk.sizeGB, given: 0 }, at)
}

function refuseOwner({ type, numInstances }: Taker, at: (field: string) => string): void {
  if (!traitsOf(type).mayHaveDisk)
    throw invalidValue(at('serviceId'), `A ${type} has no disk: only services with an instance of their own have.`)
  if (numInstances > 1)
    throw new AppError('conflict', `The service has ${numInstances} instances, and a disk can be had by one alone. Scale it to 1 first.`)
}

/** Belongs in the transaction that made or found the service. */
export function addDisk(context: AppContext, service: StoredService, { name, mountPath, sizeGB }: NewDisk): StoredDisk {
  const { id: serviceId, workspaceId, uid } = service
  const present = diskOfService(context.db, serviceId)
  if (present !== undefined) throw new AppError('conflict', hasDisk(present))
  const createdAt = context.now()
  const id = newId('disk', createdAt)
  const [{ name: kind }] = context.engine.volumes.capabilities.kinds
  insertDisk(context.db, { id, workspaceId, serviceId, name, mountPath, sizeGb: sizeGB, kind, uid, createdAt })
  return stored(context, id)
}

const hasDisk = ({ name, status }: StoredDisk): string =>
  status === 'deleting'
    ? `The service's disk ${name} is still being deleted. Try again in a moment.`
    : `The service has the disk ${name} already, and can have one only. Grow it, or delete it first.`

export function createDisk(context: AppContext, viewer: Viewer, { serviceId, ...disk }: DiskCreate): StoredDisk {
  const service = requireService(context, viewer, serviceId)
  checkNewDisk(context, service, disk)
  const made = withinQuotas(context, service.workspaceId, () => addDisk(context, service, disk))
  context.work.poke('disk', made.id)
  return made
}

/**
 * @throws AppError not_found for a strange id, another workspace's or that of a service outside of the caller's scope included; forbidden
 * as `requireService`.
 */
export function requireDisk({ db }: Pick<AppContext, 'db'>, viewer: Viewer, id: string): StoredDisk {
  const disk = findDisk(db, viewer.workspaceId, id)
  if (disk === undefined || !isWithin(viewer.scope, placeOfDisk(db, disk)))
    throw new AppError('not_found', `There is no disk ${id} in this workspace. GET /v1/disks lists those there are.`)
  refuseProtected(db, viewer, placeOfDisk(db, disk).environmentId)
  return disk
}

export function changeDisk(context: AppContext, viewer: Viewer, { disk, patch }: { disk: StoredDisk; patch: DiskPatch }): StoredDisk {
  const { name = disk.name, mountPath = disk.mountPath, sizeGB = disk.growToGb ?? disk.sizeGb, serviceId = disk.serviceId } = patch
  if (mountPath !== disk.mountPath) refuseBadPath(context, mountPath, inBody)
  const isGrowing = sizeGB !== (disk.growToGb ?? disk.sizeGb)
  const isMoving = serviceId !== disk.serviceId
  if (isGrowing) refuseBadSize(context, { sizeGb: sizeGB, given: disk.growToGb ?? disk.sizeGb }, inBody)
  if (isGrowing && context.engine.volumes.capabilities.grow === 'never')
    throw new AppError('bad_request', 'Disks of this server keep their size. Make a larger one, and copy what is to be kept.')
  if (isGrowing || isMoving) refuseBusy(disk)
  if (isGrowing && isMoving) throw new AppError('conflict', 'Give the disk to its new service first, and grow it when it is there.')
  if (isMoving) requireProtectedRight(context.db, viewer, placeOfDisk(context.db, disk).environmentId)
  const taken = isMoving
    ? {
        ...takenBy(context, disk, requireService(context, viewer, serviceId)),
        deletedAt: null,
        keptUntil: null,
        keptEnvironmentId: null,
        status: 'attaching' as const,
      }
    : {}
  const grown = isGrowing ? { growToGb: sizeGB, status: 'resizing' as const } : {}
  withinQuotas(context, disk.workspaceId, () => {
    updateDisk(context.db, disk.id, { name, mountPath, ...grown, ...taken }, context.now())
    if (name !== disk.name || mountPath !== disk.mountPath)
      recordDiskEvent(context, { ...disk, name }, 'disk_updated', { fromName: disk.name, mountPath, fromMountPath: disk.mountPath })
  })
  context.work.poke('disk', disk.id)
  context.work.poke('service', serviceId)
  return stored(context, disk.id)
}

function takenBy(context: AppContext, disk: StoredDisk, service: StoredService): Pick<StoredDisk, 'serviceId' | 'uid'> {
  if (disk.keptUntil === null)
    throw new AppError('conflict', 'The disk belongs to a service. Only one whose service was deleted can be given to another.')
  if (serviceById(context.db, disk.serviceId) !== undefined)
    throw new AppError('conflict', 'The service of the disk is still being deleted. Try again in a moment.')
  refuseOwner(service, inBody)
  const present = diskOfService(context.db, service.id)
  if (present !== undefined) throw new AppError('conflict', hasDisk(present))
  return { serviceId: service.id, uid: service.uid }
}

export function deleteDisk(context: AppContext, disk: StoredDisk): void {
  updateDisk(context.db, disk.id, { status: 'deleting' }, context.now())
  context.work.poke('service', disk.serviceId)
  context.work.poke('disk', disk.id)
}

/** Keeps the disk of an owner that is deleted for a while. Callers run this in the transaction of the deletion. */
export function keepDisk({ db, now }: Pick<AppContext, 'db' | 'now'>, { id }: Pick<Owner, 'id'>): StoredDisk | undefined {
  const disk = diskOfService(db, id)
  if (disk === undefined) return undefined
  const { environmentId: keptEnvironmentId } = placeOf(db, id)
  updateDisk(db, disk.id, { deletedAt: now(), keptUntil: now() + KEPT_MS, keptEnvironmentId }, now())
  return disk
}

export function releaseDisk(context: AppContext, owner: Owner): void {
  const disk = keepDisk(context, owner)
  if (disk !== undefined) context.work.poke('disk', disk.id)
}

export function orderSnapshot(context: AppContext, disk: StoredDisk): StoredSnapshot {
  if (!context.engine.volumes.capabilities.snapshots) throw new AppError('bad_request', 'This server takes no snapshots of disks.')
  refuseBusy(disk)
  const key = context.db.transaction(() => requestSnapshot(context, disk, 'manual'))()
  context.work.poke('disk', disk.id)
  return requireSnapshot(context, disk, key)
}

/** @throws AppError not_found for a key that is none of this disk. */
export function requireSnapshot({ db }: Pick<AppContext, 'db'>, disk: StoredDisk, key: string): StoredSnapshot {
  const snapshot = findSnapshot(db, disk.id, key)
  if (snapshot === undefined || snapshot.status === 'deleting')
    throw new AppError('not_found', `The disk has no snapshot ${key}. GET /v1/disks/{id}/snapshots lists those there are.`)
  return snapshot
}

export function restoreSnapshot(context: AppContext, disk: StoredDisk, key: string): StoredDisk {
  const snapshot = requireSnapshot(context, disk, key)
  if (snapshot.status !== 'available') throw new AppError('conflict', `The snapshot is ${snapshot.status}: it cannot be restored.`)
  refuseBusy(disk)
  const now = context.now()
  updateDisk(context.db, disk.id, { status: 'restoring', restoreKey: key }, now)
  context.work.poke('disk', disk.id)
  return stored(context, disk.id)
}

export function deleteSnapshot(context: AppContext, disk: StoredDisk, key: string): void {
  const { status } = requireSnapshot(context, disk, key)
  if (status === 'creating') throw new AppError('conflict', 'The snapshot is still being taken. Delete it when it is there.')
  if (disk.restoreKey === key) throw new AppError('conflict', 'The snapshot is being restored. Delete it when that is done.')
  updateSnapshot(context.db, key, { status: 'deleting' })
  context.work.poke('disk', disk.id)
}

function refuseBusy({ status }: StoredDisk): void {
  if (status !== 'available') throw new AppError('conflict', `The disk is ${status} now. Try again when it is available.`)
}

function stored({ db }: Pick<AppContext, 'db'>, id: string): StoredDisk {
  const disk = diskById(db, id)
  if (disk === undefined) throw new AppError('not_found', `There is no disk ${id}.`)
  return disk
}
