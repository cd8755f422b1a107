/**
 * Brings one datastore to what is written down of it: its volume, its server, another start of that for what needs one, or its end. Takes
 * no input but the id, may be killed anywhere and called again at any time; the driver sees to it that only one runs for a datastore.
 */
import { AppError } from '../../../shared/error.ts'
import { inOneChange } from '../../platform/db/change.ts'
import { describeError } from '../../platform/server-log.ts'
import { removeServiceFolders } from '../../platform/service-folders.ts'
import { deleteSetsOf } from '../../runtime/workloads/set-store.ts'
import { deleteWorkloadsOf, workloadsOf } from '../../runtime/workloads/store.ts'
import type { AppContext } from '../context.ts'
import { refuseGrowth } from './disk-growth.ts'
import { recordDatastoreEvent } from './events.ts'
import { stepFailover } from './failover.ts'
import { changeToFollow } from './follow.ts'
import { whileGrowing } from './growing.ts'
import type { DatastoreServers } from './kind.ts'
import { SERVER } from './owner.ts'
import { type DatastoreAction, planDatastore } from './plan.ts'
import { datastoreById, followersOf, OWNER_KIND, removeDatastoreRow, type StoredDatastore, updateDatastore } from './store.ts'

const MAX_ROUNDS = 20
const STUCK_RETRY_MS = 5000
const IN_USE_CHECK_MS = 50
const NOT_YET_CHECK_MS = 1000
const BYTES_PER_GB = 1024 ** 3

/** Returns when to look again though nothing happens (ms since 1970), or undefined. */
export async function reconcileDatastore(context: AppContext, servers: DatastoreServers, id: string): Promise<number | undefined> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const datastore = followed(context, id)
    if (datastore === undefined) return undefined
    const actions = planNow(context, datastore)
    if (actions.length === 0) return undefined
    const againMs = await waitMs(context, servers, { datastore, actions })
    if (againMs !== undefined) return context.now() + againMs
    for (const action of actions) await act(context, servers, { datastore, action })
  }
  context.log.error('datastore does not settle', { datastoreId: id })
  return context.now() + STUCK_RETRY_MS
}

interface Planned {
  datastore: StoredDatastore
  actions: readonly DatastoreAction[]
}

/** How long what is planned has to wait for others; undefined where it need not. */
async function waitMs(context: AppContext, servers: DatastoreServers, { datastore, actions }: Planned): Promise<number | undefined> {
  const kinds = new Set(actions.map(({ kind }) => kind))
  if ((kinds.has('grow_volume') || kinds.has('remove')) && (await isHeldUp(context, datastore))) return IN_USE_CHECK_MS
  if (kinds.has('upgrade') && !(await servers[datastore.kind]?.stepUpgrade?.(datastore))) return IN_USE_CHECK_MS
  if (kinds.has('prepare_upgrade') && context.work.isBackingUp(datastore.id)) return NOT_YET_CHECK_MS
  if (kinds.has('run') && !(await mayRun(servers, datastore))) return NOT_YET_CHECK_MS
  return kinds.has('fail_over') && !(await stepFailover(context, servers, datastore)) ? IN_USE_CHECK_MS : undefined
}

function planNow({ db, sets, engine }: AppContext, datastore: StoredDatastore): DatastoreAction[] {
  const owner = { ownerKind: OWNER_KIND, ownerId: datastore.id }
  return planDatastore({
    datastore,
    sets: sets.sets(owner),
    replicas: workloadsOf(db, OWNER_KIND, datastore.id),
    grow: engine.volumes.capabilities.grow,
    followers: followersOf(db, datastore.id).length,
  })
}

/** The row as it is to be by now: what follows another is brought up to that first. */
function followed({ db, engine, now }: AppContext, id: string): StoredDatastore | undefined {
  return inOneChange(db, () => {
    const datastore = datastoreById(db, id)
    const primary = datastore?.primaryId == null ? undefined : datastoreById(db, datastore.primaryId)
    if (datastore === undefined || primary === undefined) return datastore
    const change = changeToFollow(primary, datastore, engine.volumes.roomBytes() / BYTES_PER_GB)
    if (change === undefined) return datastore
    updateDatastore(db, id, change, now())
    return datastoreById(db, id)
  })
}

const mayRun = async (servers: DatastoreServers, datastore: StoredDatastore): Promise<boolean> =>
  (await servers[datastore.kind]?.mayRun?.(datastore)) ?? true

/** The machine may need a moment after the last user of a volume has gone, and before one that comes has it. */
async function isHeldUp({ db, engine }: AppContext, { id, volumeId }: StoredDatastore): Promise<boolean> {
  const phases = new Set(workloadsOf(db, OWNER_KIND, id).map(({ phase }) => phase))
  if (phases.has('stopping')) return true
  if (phases.has('running')) return false
  const isInUse = await engine.volumes.isInUse(volumeId)
  return phases.has('starting') ? !isInUse : isInUse
}

interface Step {
  datastore: StoredDatastore
  action: DatastoreAction
}

async function act(context: AppContext, servers: DatastoreServers, { datastore, action }: Step): Promise<void> {
  const { sets } = context
  switch (action.kind) {
    case 'make_volume':
      return await makeVolume(context, servers, datastore)
    case 'grow_volume':
      return await growVolume(context, datastore)
    case 'run':
      return run(context, datastore, action.setId)
    case 'drop':
      return sets.drop(action.setId)
    case 'settle':
      return settle(context, datastore)
    case 'fail_over':
    case 'upgrade':
      return
    case 'prepare_upgrade':
      return await servers[datastore.kind]?.prepareUpgrade?.(datastore)
    case 'prepare_removal':
      return await servers[datastore.kind]?.beforeRemoval?.(datastore)
    case 'remove':
      return await remove(context, datastore)
    default:
      action satisfies never
  }
}

function settle(context: AppContext, { id }: StoredDatastore): void {
  updateDatastore(context.db, id, { phase: 'ready' }, context.now())
  for (const follower of followersOf(context.db, id)) context.work.poke('datastore', follower.id)
}

/** What is wanted may have changed while a volume was made. */
function run({ db, sets }: AppContext, { id, generation }: StoredDatastore, setId: string): void {
  inOneChange(db, () => {
    const now = datastoreById(db, id)
    if (now?.generation !== generation || now.suspendedBy !== null || now.phase === 'deleting') return
    sets.apply({ ...SERVER, id: setId, ownerId: id, spec: {}, replicas: 1 })
  })
}

/** There is nothing to go back to: it is tried again and again, at growing intervals. */
async function makeVolume(context: AppContext, servers: DatastoreServers, datastore: StoredDatastore): Promise<void> {
  const { id, number, volumeId, volumeKind: kind, sizeGb } = datastore
  const isWanted = () => datastoreById(context.db, id)?.phase === 'creating'
  try {
    if (isWanted()) await context.engine.volumes.make({ id: volumeId, kind, sizeGb, owner: { id, number } })
    if (isWanted()) await servers[datastore.kind]?.prepare?.(datastore)
  } catch (error) {
    if (!context.stopping.aborted) updateDatastore(context.db, id, { problem: reasonOf(error) }, context.now())
    throw error
  }
}

async function growVolume(context: AppContext, datastore: StoredDatastore): Promise<void> {
  const { id, volumeId, sizeGb, growToGb } = datastore
  if (growToGb === null) return
  const isAskedStill = () => datastoreById(context.db, id)?.growToGb === growToGb
  try {
    await whileGrowing(volumeId, () => context.engine.volumes.grow(volumeId, { fromGb: sizeGb, toGb: growToGb }))
  } catch (error) {
    if (context.stopping.aborted) throw error
    context.log.error('volume of a datastore not grown', { datastoreId: id, ...describeError(error) })
    context.db.transaction(() => {
      if (isAskedStill()) refuseGrowth(context, datastore, reasonOf(error))
    })()
    return
  }
  context.db.transaction(() => {
    const settled = isAskedStill() ? { growToGb: null, growthRefusedAt: null } : {}
    updateDatastore(context.db, id, { sizeGb: growToGb, ...settled }, context.now())
    if (datastore.phase !== 'creating') recordDatastoreEvent(context, datastore, 'resized', { fromGB: sizeGb, toGB: growToGb })
  })()
}

const reasonOf = (error: unknown): string =>
  error instanceof AppError ? error.message : 'The platform failed at it; its own log says why. Try again.'

async function remove(context: AppContext, { id, name, workspaceId, volumeId, primaryId }: StoredDatastore): Promise<void> {
  const { engine, outputLogs } = context
  await engine.removeOwner(id)
  for (const output of await outputLogs.list(id)) await outputLogs.discard({ ownerId: id, name: output })
  await context.logStore.removeService(id)
  await context.metrics.removeService(id)
  await engine.volumes.remove(volumeId)
  await removeServiceFolders(context.paths, id)
  context.db.transaction(() => {
    removeDatastoreRow(context.db, id)
    deleteWorkloadsOf(context.db, OWNER_KIND, id)
    deleteSetsOf(context.db, { ownerKind: OWNER_KIND, ownerId: id })
    context.audit.system({ event: 'datastore.removed', workspaceId, target: id, metadata: { name } })
  })()
  if (primaryId !== null) context.work.poke('datastore', primaryId)
}
