/** The read replicas of a database: each is a datastore of its own, which is what its primary is but for its name, its address and who may connect. */
import { AppError, invalidValue } from '../../../shared/error.ts'
import { maxReadReplicas, type PostgresPatch, type ReadReplicaInput } from '../../../shared/postgres.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { requireProtectedRight } from '../../identity/scopes/protection.ts'
import type { AppContext } from '../context.ts'
import { passwordPurpose } from '../datastores/credential-store.ts'
import { standbyOf } from '../datastores/failover.ts'
import { addDatastore, changeDatastore, deleteDatastore, refuseBadSize, refuseReplica } from '../datastores/operations.ts'
import { type DatastoreRole, followersOf, type StoredDatastore } from '../datastores/store.ts'
import { recordEvent } from '../events/store.ts'
import { refuseBadParameters } from './parameters.ts'
import { ownOf } from './session.ts'
import { insertPostgres, updatePostgres } from './store.ts'

export interface ReplicaChange<T> {
  added: ReadReplicaInput[]
  kept: { replica: T; wanted: ReadReplicaInput }[]
  removed: T[]
}

/** What is to be done so that a database has the replicas of these names and no others. @throws AppError validation_failed for a list that cannot be. */
export function planReplicas<T extends { name: string }>(wanted: readonly ReadReplicaInput[], there: readonly T[]): ReplicaChange<T> {
  if (wanted.length > maxReadReplicas) throw invalidValue('/readReplicas', `A database has ${maxReadReplicas} read replicas at most.`)
  const names = wanted.map(({ name }) => name)
  const twice = names.findIndex((name, index) => names.indexOf(name) !== index)
  if (twice !== -1)
    throw invalidValue(`/readReplicas/${twice}/name`, `${names[twice]} stands there twice. Each replica has a name of its own.`)
  const kept = wanted.flatMap((one) => there.filter(({ name }) => name === one.name).map((replica) => ({ replica, wanted: one })))
  return {
    added: wanted.filter(({ name }) => there.every((replica) => replica.name !== name)),
    kept,
    removed: there.filter(({ name }) => !names.includes(name)),
  }
}

const ofReplicaItself: ReadonlySet<string> = new Set(['name', 'ipAllowList', 'parameterOverrides'] satisfies (keyof PostgresPatch)[])

/** @throws AppError conflict naming what a replica has of its primary. */
export function refuseOnReplica(replica: StoredDatastore, patch: PostgresPatch): void {
  const followed = Object.entries(patch).flatMap(([name, value]) => (value == null || ofReplicaItself.has(name) ? [] : [name]))
  if (followed.length > 0) refuseReplica(replica, `change ${followed.join(', ')} there.`)
}

/** The read replicas of a database, oldest first, without those that are being deleted. */
export const replicasOf = ({ db }: Pick<AppContext, 'db'>, { id }: Pick<StoredDatastore, 'id'>): StoredDatastore[] =>
  followersOf(db, id).filter(({ role, phase }) => role === 'replica' && phase !== 'deleting')

export interface Replicated {
  primary: StoredDatastore
  wanted: readonly ReadReplicaInput[]
}

/** Belongs in the change of the primary. @throws AppError as told by the operation. */
export function setReplicas(context: AppContext, actor: Actor, { primary, wanted }: Replicated): void {
  const { added, kept, removed } = planReplicas(wanted, replicasOf(context, primary))
  for (const { parameterOverrides } of wanted) refuseBadParameters(parameterOverrides ?? {})
  if (added.length > 0) refuseNew(context, actor, { primary, count: added.length })
  if (removed.length > 0) refuseRemoval(context, actor, primary)
  for (const replica of removed) deleteDatastore(context, replica, { isForced: false })
  for (const { replica, wanted: one } of kept) setParameters(context, replica, one)
  for (const one of added) addFollower(context, actor, { primary, role: 'replica', ...one })
  if (added.length + removed.length === 0) return
  const { id, workspaceId, name } = primary
  const details = { name, added: added.map((one) => one.name), removed: removed.map((one) => one.name) }
  recordEvent(context.db, { owner: { id, workspaceId }, type: 'postgres_read_replicas_changed', details, now: context.now() })
}

function refuseNew(context: AppContext, { permissions }: Actor, { primary, count }: { primary: StoredDatastore; count: number }): void {
  if (!permissions.has('datastores.create'))
    throw new AppError(
      'forbidden',
      'A read replica is a new database, for which your role lacks datastores.create. Ask an administrator for it.',
    )
  refuseBadSize(context, { sizeGb: (primary.growToGb ?? primary.sizeGb) * count, given: 0 })
}

function refuseRemoval(context: AppContext, actor: Actor, primary: StoredDatastore): void {
  if (!actor.permissions.has('datastores.delete'))
    throw new AppError('forbidden', 'A read replica that is left out is deleted, for which your role lacks datastores.delete.')
  requireProtectedRight(context.db, actor, primary.environmentId)
}

function setParameters(context: AppContext, replica: StoredDatastore, { parameterOverrides }: ReadReplicaInput): void {
  if (parameterOverrides == null || Bun.deepEquals(parameterOverrides, ownOf(context, replica).parameterOverrides)) return
  updatePostgres(context.db, replica.id, { parameterOverrides })
  changeDatastore(context, replica, { change: {}, isFreshStart: true })
}

export interface Guarded {
  primary: StoredDatastore
  isWanted: boolean
}

/** Gives a database a standby, or takes it away. Belongs in the change of the primary. @throws AppError as told by the operation. */
export function setStandby(context: AppContext, actor: Actor, { primary, isWanted }: Guarded): void {
  const standby = standbyOf(context, primary)
  if (isWanted === (standby !== undefined)) return
  if (primary.failover !== null)
    throw new AppError('conflict', `The standby of ${primary.name} is taking its place. Try again in a moment.`)
  if (standby === undefined) {
    refuseNew(context, actor, { primary, count: 1 })
    addFollower(context, actor, { primary, role: 'standby', name: primary.name })
  } else deleteDatastore(context, standby, { isForced: true })
  updatePostgres(context.db, primary.id, { isHighlyAvailable: isWanted })
  const { id, workspaceId, name } = primary
  recordEvent(context.db, {
    owner: { id, workspaceId },
    type: 'postgres_ha_status_changed',
    details: { name, enabled: isWanted },
    now: context.now(),
  })
}

export interface NewFollower extends ReadReplicaInput {
  primary: StoredDatastore
  role: Exclude<DatastoreRole, 'primary'>
}

/** Writes down what takes its content from a database, with the passwords of the platform's roles that come with that. */
export function addFollower(context: AppContext, actor: Actor, { primary, role, name, parameterOverrides }: NewFollower): StoredDatastore {
  const { plan, version, sizeGb, ipAllowList, environmentId } = primary
  const { db, sealer } = context
  const replica = addDatastore(context, actor, {
    ...{ kind: 'postgres', role, primaryId: primary.id, name, plan, version, environmentId },
    ...{ sizeGb: primary.growToGb ?? sizeGb, ipAllowList: role === 'replica' ? ipAllowList : [] },
  })
  const own = ownOf(context, primary)
  const sealedAnew = (sealed: string, what: 'admin' | 'backup') =>
    sealer.seal(sealer.open(sealed, passwordPurpose(primary.id, what)), passwordPurpose(replica.id, what))
  insertPostgres(db, {
    ...{
      ...own,
      id: replica.id,
      parameterOverrides: parameterOverrides ?? {},
      isHighlyAvailable: false,
      connectionPool: 'none',
      hasCluster: true,
    },
    adminPasswordSealed: sealedAnew(own.adminPasswordSealed, 'admin'),
    backupPasswordSealed: sealedAnew(own.backupPasswordSealed, 'backup'),
  })
  context.work.poke('datastore', replica.id)
  return replica
}
