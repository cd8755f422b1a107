/** Upgrades as they are asked for, and as the server of a database tells how they went. */
import { AppError } from '../../../shared/error.ts'
import type { AppContext } from '../context.ts'
import { runningServer } from '../datastores/endpoint.ts'
import { changeDatastore, refuseReplica, refuseUnlessReady } from '../datastores/operations.ts'
import type { StoredDatastore } from '../datastores/store.ts'
import { recordEvent } from '../events/store.ts'
import { programsOf } from './programs.ts'
import { hasWayBack, refuseFullDisk, refuseVersion, refuseWithoutRoom, requireWayBack, SNAPSHOT_PREFIX } from './upgrade-rules.ts'
import { putUpgrade, type StoredUpgrade, updateUpgrade, upgradeOf } from './upgrade-store.ts'

const DAY_MS = 24 * 60 * 60_000
const GIB = 1024 ** 3
const MEASURE_MS = 10_000

/** Whether there is room for an upgrade, which takes a look at the machine: before the change that asks for it. @throws AppError as told by the operation. */
export async function requireUpgradeRoom(context: AppContext, datastore: StoredDatastore, to: string): Promise<void> {
  refuseUpgrade(context, datastore, to)
  const { name, volumeId, sizeGb } = datastore
  const { engine } = context
  const server = runningServer(context.db, datastore.id)
  const disk = server && (await engine.usage(server.id))?.disk
  const measured =
    disk?.usedBytes ?? (await engine.volumes.usage(volumeId, 'bytes', AbortSignal.timeout(MEASURE_MS)).catch(() => undefined))
  if (disk !== undefined) refuseFullDisk(name, disk)
  refuseWithoutRoom({ name, contentBytes: measured ?? sizeGb * GIB, freeBytes: engine.volumes.roomBytes() }, 'kept')
}

/** Writes an upgrade down, which is begun when the change is made. Belongs in it. @throws AppError as told by the operation. */
export function announceUpgrade(context: AppContext, datastore: StoredDatastore, to: string): void {
  refuseUpgrade(context, datastore, to)
  const { id, name, workspaceId, version: from, volumeId } = datastore
  const now = context.now()
  putUpgrade(context.db, {
    id,
    fromVersion: from,
    toVersion: to,
    volumeId,
    snapshot: `${SNAPSHOT_PREFIX}${now.toString(36)}`,
    startedAt: now,
  })
  changeDatastore(context, datastore, { change: { upgrade: 'announced' }, isFreshStart: false })
  recordEvent(context.db, { owner: { id, workspaceId }, type: 'postgres_upgrade_started', details: { name, from, to }, now })
}

/** @throws AppError conflict for one that cannot be upgraded now, validation_failed for a version that it cannot have, saying what can be done. */
function refuseUpgrade(context: AppContext, datastore: StoredDatastore, to: string): void {
  const { id, name, version: from } = datastore
  refuseReplica(datastore, 'upgrade that, which upgrades its replicas.')
  refuseVersion({ name, from, to, majors: context.programs.available('postgres').map(({ major }) => major) })
  refuseUnsteady(datastore)
  programsOf(context, from)
  if (runningServer(context.db, id) === undefined)
    throw new AppError('conflict', `${name} is not available, and only what runs is upgraded. Its log and its events say why it does not.`)
}

/** @throws AppError conflict for a database that does not run, or with which something else is under way. */
function refuseUnsteady(datastore: StoredDatastore): void {
  const { name, suspendedBy, growToGb, failover } = datastore
  refuseUnlessReady(datastore)
  if (suspendedBy !== null) throw new AppError('conflict', `${name} is suspended. Resume it first.`)
  if (growToGb !== null) throw new AppError('conflict', `The disk of ${name} is growing. Try again in a moment.`)
  if (failover !== null) throw new AppError('conflict', `The standby of ${name} is taking its place. Try again in a moment.`)
}

/** Whether there is room to take an upgrade back: before the change that does. @throws AppError as told by the operation. */
export async function requireRoomToReturn(context: AppContext, datastore: StoredDatastore): Promise<void> {
  refuseReturn(context, datastore)
  const { name, sizeGb, volumeId, volumeKind } = datastore
  const { volumes } = context.engine
  const measured = volumeKind === 'image' ? undefined : await volumes.usage(volumeId, 'bytes', AbortSignal.timeout(MEASURE_MS))
  refuseWithoutRoom({ name, contentBytes: measured ?? sizeGb * GIB, freeBytes: volumes.roomBytes() }, 'put back')
}

/** Has a database be what it was before its upgrade; all that was written since is lost. Belongs in a change. @throws AppError as told by the operation. */
export function requestReturn(context: AppContext, datastore: StoredDatastore): void {
  refuseReturn(context, datastore)
  beginReturn(context, datastore, null)
}

/** Gives up what is kept of a database from before its upgrade, which is removed soon. @throws AppError conflict where nothing is kept. */
export function confirmUpgrade({ db, work }: AppContext, { id, name }: StoredDatastore): void {
  const upgrade = upgradeOf(db, id)
  if (upgrade === undefined || !hasWayBack(upgrade))
    throw new AppError('conflict', `Nothing is kept of what ${name} was before an upgrade.`)
  updateUpgrade(db, id, { keptUntil: null })
  work.poke('datastore', id)
}

function refuseReturn(context: AppContext, datastore: StoredDatastore): void {
  refuseReplica(datastore, 'take that back.')
  const { fromVersion } = requireWayBack(datastore, upgradeOf(context.db, datastore.id), context.now())
  refuseUnsteady(datastore)
  programsOf(context, fromVersion)
}

function beginReturn(context: AppContext, datastore: StoredDatastore, reason: string | null): void {
  updateUpgrade(context.db, datastore.id, { step: 'returning', reason })
  changeDatastore(context, datastore, { change: { upgrade: 'under_way' }, isFreshStart: false })
}

/** The server of an upgraded database has come up. Belongs in the change that takes note of it. */
export function noteUpgraded(context: AppContext, { id, name, workspaceId }: StoredDatastore): void {
  const upgrade = upgradeOf(context.db, id)
  if (upgrade?.step !== 'starting') return
  const now = context.now()
  const { fromVersion: from, toVersion: to } = upgrade
  updateUpgrade(context.db, id, { step: 'settling', finishedAt: now, keptUntil: now + DAY_MS })
  const details = { name, from, to, canBeTakenBackUntil: new Date(now + DAY_MS).toISOString() }
  recordEvent(context.db, { owner: { id, workspaceId }, type: 'postgres_upgrade_succeeded', details, now })
}

/** Whether a server that does not come up is that of an upgrade, which is taken back then. Belongs in the change that takes note of it. */
export function returnIfUpgraded(context: AppContext, datastore: StoredDatastore, why: string): boolean {
  const upgrade: StoredUpgrade | undefined = upgradeOf(context.db, datastore.id)
  if (upgrade?.step !== 'starting' || datastore.upgrade !== null) return false
  beginReturn(context, datastore, `Its server did not come up with the new version. ${why}`)
  return true
}
