import { bytesOf } from '../../../shared/disk.ts'
import { AppError } from '../../../shared/error.ts'
import type { VolumeSpace } from '../../engines/port/port.ts'
import { withinQuotas } from '../../identity/quotas/enforce.ts'
import type { AppContext } from '../context.ts'
import { grownSize, hasRoomAgain, hasToGrow } from './disk-rules.ts'
import { recordDatastoreEvent } from './events.ts'
import type { DatastoreServer } from './kind.ts'
import { changeDatastore } from './operations.ts'
import { type StoredDatastore, updateDatastore } from './store.ts'

/** What could not grow may do so when somebody has made room. */
const RETRY_MS = 10 * 60_000

interface Growing {
  datastore: StoredDatastore
  space: VolumeSpace
}

/** Writes down that the disk is to grow, if it is due and can. Part of a transaction. That it cannot is told once. */
export function growByItself(context: AppContext, server: DatastoreServer, { datastore, space }: Growing): void {
  const { id, growToGb, growthRefusedAt } = datastore
  if (hasRoomAgain(space) && growthRefusedAt !== null) updateDatastore(context.db, id, { growthRefusedAt: null }, context.now())
  const step = server.growthStepGb?.(datastore)
  const isDue = hasToGrow(space) && growToGb === null && isRetryDue(growthRefusedAt, context.now())
  if (step === undefined || !isDue || context.engine.volumes.capabilities.grow === 'never') return
  try {
    grow(context, datastore, step)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    refuseGrowth(context, datastore, error.message)
  }
}

/** A moment that is still to come is what a clock said that was ahead. */
export const isRetryDue = (refusedAt: number | null, now: number): boolean =>
  refusedAt === null || refusedAt > now || now - refusedAt >= RETRY_MS

function grow(context: AppContext, datastore: StoredDatastore, stepGb: number): void {
  const { sizeGb, workspaceId } = datastore
  const roomGb = context.engine.volumes.roomBytes() / bytesOf(1)
  const to = grownSize({ sizeGb, roomGb, stepGb })
  if (to === undefined) throw new AppError('conflict', 'There is no room on the server for a larger disk. Its operator can make some.')
  withinQuotas(context, workspaceId, () => changeDatastore(context, datastore, { change: { growToGb: to }, isFreshStart: false }))
}

/** Takes note that a disk did not grow by itself, and tells the first time. */
export function refuseGrowth(context: AppContext, datastore: StoredDatastore, reason: string): void {
  if (datastore.growthRefusedAt === null) recordDatastoreEvent(context, datastore, 'resizeFailed', { reason })
  updateDatastore(context.db, datastore.id, { growToGb: null, growthRefusedAt: context.now() }, context.now())
}

const RESCUE_GB = 1

/**
 * Part of the transaction that takes note that a server cannot come up on its full disk: that grows a little, whatever was said of growing, as
 * nobody can make room in a server that is down. Returns what to tell people.
 */
export function rescueFromFullDisk(context: AppContext, datastore: StoredDatastore): string {
  const { id, sizeGb, growToGb, volumeKind } = datastore
  if (volumeKind === 'folder') return 'The disk of the machine is full, too full for its server to come up. Its operator can make room.'
  const full = `Its disk of ${sizeGb} GB is full, too full for its server to come up.`
  if (growToGb !== null) return `${full} It is growing.`
  if (context.engine.volumes.capabilities.grow === 'never' || context.engine.volumes.roomBytes() < bytesOf(RESCUE_GB))
    return `${full} There is no room on the server for a larger one: its operator can make some.`
  updateDatastore(context.db, id, { growToGb: sizeGb + RESCUE_GB }, context.now())
  return `${full} It grows by ${RESCUE_GB} GB.`
}
