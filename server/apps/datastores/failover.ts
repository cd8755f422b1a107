/**
 * The exchange of a primary and its standby. What is exchanged is their volumes: id, name, address, users and backups stay with the row of the
 * primary. Both servers are gone, and their machine has let go of both volumes, before either volume changes hands: no two are written to at any
 * moment. Each step is written down, and can be repeated by whoever finds it so. Where somebody asked for it, the standby has to have all that the
 * primary wrote before: what cut that off, such as an end of the control plane through which it streams, has the primary go on.
 */
import { inOneChange } from '../../platform/db/change.ts'
import { workloadsOf } from '../../runtime/workloads/store.ts'
import type { AppContext } from '../context.ts'
import { recordEvent } from '../events/store.ts'
import { endpointOf } from './endpoint.ts'
import { isGrowing } from './growing.ts'
import { type DatastoreServers, serverOf } from './kind.ts'
import { datastoreById, followersOf, OWNER_KIND, type StoredDatastore, swapVolumes, updateDatastore } from './store.ts'

/** The standby of a primary; undefined where it has none. */
export const standbyOf = ({ db }: Pick<AppContext, 'db'>, { id }: Pick<StoredDatastore, 'id'>): StoredDatastore | undefined =>
  followersOf(db, id).find(({ role, phase }) => role === 'standby' && phase !== 'deleting')

/** Takes the next step of a primary of which nothing runs any more. Returns whether there was one that could be taken. */
export async function stepFailover(context: AppContext, servers: DatastoreServers, primary: StoredDatastore): Promise<boolean> {
  const standby = standbyOf(context, primary)
  if (standby === undefined) {
    goOn(context, [primary])
    return true
  }
  if (primary.failover === 'giving') return await giveVolumes(context, { primary, standby })
  if (primary.failover === 'handing') return await handOver(context, servers, { primary, standby })
  if (standby.failover === null) {
    updateDatastore(context.db, standby.id, { failover: 'fencing' }, context.now())
    context.work.poke('datastore', standby.id)
    return true
  }
  if (!(await isFenced(context, primary)) || !(await isFenced(context, standby))) return false
  exchange(context, { primary, standby })
  return true
}

async function isFenced({ db, sets, engine }: AppContext, { id, volumeId }: StoredDatastore): Promise<boolean> {
  const isGone = workloadsOf(db, OWNER_KIND, id).length === 0 && sets.sets({ ownerKind: OWNER_KIND, ownerId: id }).length === 0
  return isGone && !isGrowing(volumeId) && !(await engine.volumes.isInUse(volumeId))
}

interface Pair {
  primary: StoredDatastore
  standby: StoredDatastore
}

const LACKING = 'The standby did not get all that was written before its server ended. It goes on; try again in a minute.'

async function handOver(context: AppContext, servers: DatastoreServers, { primary, standby }: Pair): Promise<boolean> {
  const endpoint = endpointOf(context, standby)
  const hasAll = endpoint !== undefined && (await serverOf(servers, standby).hasAllOfPrimary?.(standby, endpoint))
  const { id, workspaceId, name } = primary
  if (hasAll === true) {
    updateDatastore(context.db, id, { failover: 'fencing' }, context.now())
    return true
  }
  context.log.error('failover given up', { datastoreId: id, reason: LACKING })
  inOneChange(context.db, () => {
    const details = { name, reason: LACKING }
    recordEvent(context.db, { owner: { id, workspaceId }, type: 'postgres_failover_failed', details, now: context.now() })
    goOn(context, [primary])
  })
  return true
}

/** Who reads of the former primary may have more of its log than the standby: they take all anew, as the former primary does. */
function exchange(context: AppContext, { primary, standby }: Pair): void {
  const { db, now } = context
  inOneChange(db, () => {
    swapVolumes(db, primary, standby)
    for (const { id, copy, generation } of followersOf(db, primary.id))
      updateDatastore(db, id, { copy: copy + 1, generation: generation + 1 }, now())
    updateDatastore(db, standby.id, { failover: 'giving' }, now())
    updateDatastore(db, primary.id, { failover: 'giving', generation: primary.generation + 1, problem: null }, now())
    const { id, workspaceId, name } = primary
    recordEvent(db, { owner: { id, workspaceId }, type: 'postgres_cluster_leader_changed', details: { name }, now: now() })
  })
}

async function giveVolumes(context: AppContext, { primary, standby }: Pair): Promise<boolean> {
  for (const { id, number, volumeId } of [primary, standby]) await context.engine.volumes.give(volumeId, { id, number })
  goOn(context, [primary, standby])
  return true
}

function goOn(context: AppContext, datastores: readonly StoredDatastore[]): void {
  inOneChange(context.db, () => {
    for (const { id } of datastores) {
      if (datastoreById(context.db, id) === undefined) continue
      updateDatastore(context.db, id, { failover: null }, context.now())
      context.work.poke('datastore', id)
    }
  })
}
