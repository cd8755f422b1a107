import { AppError, invalidValue } from '../../../shared/error.ts'
import { keyValuePlans } from '../../../shared/key-value.ts'
import { postgresPlans } from '../../../shared/postgres.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { inOneChange } from '../../platform/db/change.ts'
import { newId, newReplicaId } from '../../platform/id.ts'
import type { AppContext } from '../context.ts'
import { sizeProblem } from '../disks/rules.ts'
import { placeOfNew } from '../projects/place-of-new.ts'
import { refuseUsed } from '../references/refuse-used.ts'
import { refuseLargePlan } from '../services/plan-fit.ts'
import { nextUid } from '../services/user-ids.ts'
import { recordDatastoreEvent } from './events.ts'
import {
  type DatastoreChange,
  type DatastoreKind,
  datastoreById,
  followersOf,
  insertDatastore,
  isDatastoreNameTaken,
  type StoredDatastore,
  updateDatastore,
} from './store.ts'

const idKinds = { postgres: 'postgres', key_value: 'keyValue' } as const satisfies Record<DatastoreKind, string>

export type WantedDatastore = Pick<StoredDatastore, 'kind' | 'name' | 'plan' | 'version' | 'sizeGb' | 'ipAllowList'> & {
  environmentId: string | null | undefined
} & Partial<Pick<StoredDatastore, 'phase' | 'number' | 'volumeId' | 'volumeKind' | 'growToGb' | 'role' | 'primaryId'>>

/**
 * Writes a new datastore down, with a number and a volume of its own unless those of a spare are given. Belongs in one change with the
 * other half of its row; `work.poke` comes after. @throws AppError conflict for a taken name, validation_failed without room for its size.
 */
export function addDatastore(context: AppContext, actor: Actor, wanted: WantedDatastore): StoredDatastore {
  const { db, engine } = context
  const { workspaceId } = actor
  const { environmentId: asked, kind, name, ...given } = wanted
  const environmentId = placeOfNew(context, actor, { wanted: asked, things: 'databases and key-value stores' })
  if (given.role !== 'standby') refuseTakenName(context, workspaceId, { name })
  const [{ name: volumeKind }] = engine.volumes.capabilities.kinds
  const createdAt = context.now()
  const id = given.primaryId === undefined ? newId(idKinds[kind], createdAt) : newReplicaId(createdAt)
  const fresh = { number: given.number ?? nextUid(db), volumeId: given.volumeId ?? newId('volume', createdAt), growToGb: null, volumeKind }
  insertDatastore(db, { ...fresh, ...given, ...{ id, kind, name, workspaceId, environmentId, createdAt } })
  const datastore = stored(context, id)
  recordDatastoreEvent(context, datastore, 'created', { plan: datastore.plan })
  return datastore
}

/** @throws AppError conflict naming what to do. */
export function refuseTakenName({ db }: AppContext, workspaceId: string, wanted: { name: string; exceptId?: string }): void {
  if (isDatastoreNameTaken(db, workspaceId, wanted))
    throw new AppError('conflict', `There is a database or key-value store named ${wanted.name} already. Choose another name.`)
}

/** @throws AppError validation_failed for less than it has, and without room. */
export function refuseBadSize({ engine }: AppContext, { sizeGb, given }: { sizeGb: number; given: number }): void {
  const problem = sizeProblem(sizeGb, { given, freeBytes: engine.volumes.roomBytes() })
  if (problem !== undefined) throw invalidValue('/diskSizeGB', problem)
}

const plansOf: Record<DatastoreKind, typeof postgresPlans | typeof keyValuePlans> = { postgres: postgresPlans, key_value: keyValuePlans }

/** @throws AppError validation_failed for a plan that is larger than the machine, naming what fits. */
export function refuseLargeDatastore({ machine }: AppContext, kind: DatastoreKind, plan: string): void {
  refuseLargePlan(machine, { name: plan, label: 'plan', sizes: plansOf[kind], path: '/plan' })
}

/** Changes what is named. `isFreshStart` is for what its server has to be started anew for. */
export function changeDatastore(
  context: AppContext,
  { id }: StoredDatastore,
  { change, isFreshStart }: { change: DatastoreChange; isFreshStart: boolean },
): StoredDatastore {
  const { generation } = stored(context, id)
  updateDatastore(context.db, id, { ...change, ...(isFreshStart && { generation: generation + 1 }) }, context.now())
  context.work.poke('datastore', id)
  return stored(context, id)
}

export function restartDatastore(context: AppContext, datastore: StoredDatastore): void {
  refuseUnlessReady(datastore)
  if (datastore.suspendedBy !== null) throw new AppError('conflict', `${datastore.name} is suspended. Resume it, which starts it.`)
  inOneChange(context.db, () => {
    changeDatastore(context, datastore, { change: {}, isFreshStart: true })
    recordDatastoreEvent(context, datastore, 'restarted')
  })
}

export function suspendDatastore(context: AppContext, datastore: StoredDatastore): void {
  refuseReplica(datastore, 'suspend that, or delete the replica.')
  refuseUnlessReady(datastore)
  if (datastore.suspendedBy !== null) return
  inOneChange(context.db, () => {
    changeDatastore(context, datastore, { change: { suspendedBy: ['user'], problem: null }, isFreshStart: false })
    recordDatastoreEvent(context, datastore, 'suspended')
  })
}

export function resumeDatastore(context: AppContext, datastore: StoredDatastore): void {
  refuseReplica(datastore, 'resume that.')
  if (datastore.suspendedBy === null) return
  inOneChange(context.db, () => {
    changeDatastore(context, datastore, { change: { suspendedBy: null }, isFreshStart: true })
    recordDatastoreEvent(context, datastore, 'resumed')
  })
}

/** What takes its content from it goes with it. @throws AppError conflict as `refuseUsed`, unless it is forced. */
export function deleteDatastore(context: AppContext, datastore: StoredDatastore, { isForced }: { isForced: boolean }): void {
  inOneChange(context.db, () => {
    for (const one of [...followersOf(context.db, datastore.id), datastore]) {
      if (one.phase === 'deleting') continue
      if (!isForced) refuseUsed(context.db, one)
      changeDatastore(context, one, { change: { phase: 'deleting' }, isFreshStart: false })
      recordDatastoreEvent(context, one, 'deleted')
    }
  })
}

/** @throws AppError conflict for a replica, of which `what` is its primary's. */
export function refuseReplica({ name, primaryId }: StoredDatastore, what: string): void {
  if (primaryId !== null) throw new AppError('conflict', `${name} is a read replica, and follows ${primaryId} in this: ${what}`)
}

/** @throws AppError conflict for one that is being made or restored. */
export function refuseUnlessReady({ name, phase, upgrade }: StoredDatastore): void {
  if (phase === 'creating') throw new AppError('conflict', `${name} is still being created. Try again when it is available.`)
  if (phase !== 'ready') throw new AppError('conflict', `${name} is being restored. Try again when it is available.`)
  if (upgrade !== null) throw new AppError('conflict', `${name} is being brought to another version. Try again when it is available.`)
}

export function stored({ db }: Pick<AppContext, 'db'>, id: string): StoredDatastore {
  const datastore = datastoreById(db, id)
  if (datastore === undefined) throw new AppError('not_found', `There is no database or key-value store ${id} any more.`)
  return datastore
}
