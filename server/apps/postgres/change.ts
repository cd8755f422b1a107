import { AppError } from '../../../shared/error.ts'
import type { PostgresPatch } from '../../../shared/postgres.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { withinQuotas } from '../../identity/quotas/enforce.ts'
import { requireProtectedRight } from '../../identity/scopes/protection.ts'
import { inOneChange } from '../../platform/db/change.ts'
import type { AppContext } from '../context.ts'
import { allowListOf } from '../datastores/allow-list.ts'
import { recordDatastoreEvent } from '../datastores/events.ts'
import {
  changeDatastore,
  refuseBadSize,
  refuseLargeDatastore,
  refuseTakenName,
  refuseUnlessReady,
  stored,
} from '../datastores/operations.ts'
import { followersOf, type StoredDatastore } from '../datastores/store.ts'
import { recordEvent } from '../events/store.ts'
import { refuseBadParameters } from './parameters.ts'
import { requirePooler } from './pooler.ts'
import { refuseOnReplica, setReplicas, setStandby } from './replicas.ts'
import { postgresById, type StoredPostgres, updatePostgres } from './store.ts'
import { announceUpgrade } from './upgrade-request.ts'

/** @throws AppError as told by the operation, forbidden for what cuts people off from a database in a protected environment. */
export function changePostgres(context: AppContext, actor: Actor, { datastore, patch }: Changing): StoredDatastore {
  const own = postgresById(context.db, datastore.id)
  if (own === undefined) throw new Error(`The database ${datastore.id} has half of its row`)
  const change = checked(context, { datastore, own, patch })
  const { hasNewPlan, hasNewParameters, hasNewPool, ipAllowList } = change
  const isFreshStart = hasNewPlan || hasNewParameters || hasNewPool
  if (isFreshStart || setsFollowers(patch)) refuseDuringUpgrade(datastore)
  if (isFreshStart || ipAllowList !== undefined || patch.version !== undefined)
    requireProtectedRight(context.db, actor, datastore.environmentId)
  return inOneChange(context.db, () => {
    const { name, plan, growToGb } = change
    updatePostgres(context.db, datastore.id, change.own)
    const changed = withinQuotas(context, datastore.workspaceId, () => {
      setFollowers(context, actor, { datastore, patch })
      // Who follows it has its settings as well, from the moment that it has them.
      if (isFreshStart)
        for (const one of followersOf(context.db, datastore.id)) changeDatastore(context, one, { change: { plan }, isFreshStart })
      const grows = growToGb === datastore.growToGb ? {} : { growToGb, growthRefusedAt: null }
      return changeDatastore(context, datastore, { change: { name, plan, ...grows, ...(ipAllowList && { ipAllowList }) }, isFreshStart })
    })
    tell(context, { datastore, own, change })
    if (patch.version === undefined) return changed
    announceUpgrade(context, changed, patch.version)
    return stored(context, datastore.id)
  })
}

const setsFollowers = ({ enableHighAvailability, readReplicas }: PostgresPatch): boolean =>
  enableHighAvailability !== undefined || readReplicas !== undefined

function refuseDuringUpgrade(datastore: StoredDatastore): void {
  if (datastore.upgrade !== null) refuseUnlessReady(datastore)
}

function setFollowers(context: AppContext, actor: Actor, { datastore: primary, patch }: Changing): void {
  const { enableHighAvailability: isWanted, readReplicas } = patch
  if (isWanted !== undefined && primary.primaryId === null) setStandby(context, actor, { primary, isWanted })
  if (readReplicas !== undefined && primary.primaryId === null) setReplicas(context, actor, { primary, wanted: readReplicas ?? [] })
}

interface Changing {
  datastore: StoredDatastore
  patch: PostgresPatch
}

interface Change extends Pick<StoredDatastore, 'name' | 'plan' | 'growToGb'> {
  ipAllowList: StoredDatastore['ipAllowList'] | undefined
  own: Pick<StoredPostgres, 'parameterOverrides' | 'isAutoscaling' | 'connectionPool'>
  hasNewPlan: boolean
  hasNewParameters: boolean
  hasNewPool: boolean
}

function checked(context: AppContext, { datastore, own, patch }: Changing & { own: StoredPostgres }): Change {
  const { name = datastore.name, plan = datastore.plan, diskSizeGB } = patch
  const given = datastore.growToGb ?? datastore.sizeGb
  const sizeGb = diskSizeGB ?? given
  const parameterOverrides = patch.parameterOverrides ?? (patch.parameterOverrides === null ? {} : own.parameterOverrides)
  if (datastore.primaryId !== null) refuseOnReplica(datastore, patch)
  requirePooler(context, patch.connectionPool)
  refuseBadParameters(parameterOverrides)
  if (plan !== datastore.plan) refuseLargeDatastore(context, 'postgres', plan)
  if (name !== datastore.name) refuseTakenName(context, datastore.workspaceId, { name, exceptId: datastore.id })
  if (sizeGb !== given) refuseGrowth(context, { datastore, sizeGb, given })
  const connectionPool = patch.connectionPool ?? own.connectionPool
  return {
    name,
    plan,
    growToGb: sizeGb === datastore.sizeGb ? null : sizeGb,
    ipAllowList: patch.ipAllowList && allowListOf(patch.ipAllowList),
    own: {
      parameterOverrides,
      isAutoscaling: patch.enableDiskAutoscaling ?? own.isAutoscaling,
      connectionPool,
    },
    hasNewPlan: plan !== datastore.plan,
    hasNewParameters: !Bun.deepEquals(parameterOverrides, own.parameterOverrides),
    hasNewPool: connectionPool !== own.connectionPool,
  }
}

function refuseGrowth(
  context: AppContext,
  { datastore, sizeGb, given }: { datastore: StoredDatastore; sizeGb: number; given: number },
): void {
  refuseBadSize(context, { sizeGb, given })
  refuseUnlessReady(datastore)
  if (context.engine.volumes.capabilities.grow === 'never')
    throw new AppError('bad_request', 'Disks of this server keep their size. Make a larger database, and move what is in this one.')
  if (datastore.growToGb !== null) throw new AppError('conflict', `The disk of ${datastore.name} is growing. Try again in a moment.`)
}

interface Told {
  datastore: StoredDatastore
  own: StoredPostgres
  change: Change
}

function tell(context: AppContext, { datastore, own, change }: Told): void {
  const { id, workspaceId, name } = datastore
  if (change.hasNewPlan) recordDatastoreEvent(context, datastore, 'planChanged', { from: datastore.plan, to: change.plan })
  const told = { owner: { id, workspaceId }, now: context.now() }
  if (change.hasNewParameters)
    recordEvent(context.db, {
      ...told,
      type: 'postgres_parameters_changed',
      details: { name, from: own.parameterOverrides, to: change.own.parameterOverrides },
    })
  if (change.hasNewPool)
    recordEvent(context.db, {
      ...told,
      type: 'postgres_connection_pool_changed',
      details: { name, from: own.connectionPool, to: change.own.connectionPool },
    })
  if (change.own.isAutoscaling !== own.isAutoscaling)
    recordEvent(context.db, {
      ...told,
      type: 'postgres_disk_autoscaling_enabled_changed',
      details: { name, enabled: change.own.isAutoscaling },
    })
}
