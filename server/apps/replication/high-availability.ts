/** The standby of a database: a copy on the same machine that takes its place when its server or its files are broken. */
import { AppError } from '../../../shared/error.ts'
import { inOneChange } from '../../platform/db/change.ts'
import { type StoredWorkload, workloadsOf } from '../../runtime/workloads/store.ts'
import type { AppContext } from '../context.ts'
import { standbyOf } from '../datastores/failover.ts'
import { newestLag } from '../datastores/lag-store.ts'
import { refuseReplica, refuseUnlessReady } from '../datastores/operations.ts'
import { datastoreById, OWNER_KIND, type StoredDatastore, updateDatastore } from '../datastores/store.ts'
import { newestEventAt } from '../events/store.ts'

const RECENT_SECONDS = 60
/** A standby that is further behind would lose what was acknowledged. */
const MOST_LAG_MS = 5000

/** Has the standby take the place of a database. @throws AppError conflict where there is none that could. */
export function requestFailover(context: AppContext, datastore: StoredDatastore): void {
  refuseReplica(datastore, 'fail over that.')
  refuseUnlessReady(datastore)
  if (datastore.suspendedBy !== null) throw new AppError('conflict', `${datastore.name} is suspended. Resume it first.`)
  const standby = standbyOf(context, datastore)
  if (standby === undefined)
    throw new AppError('conflict', `${datastore.name} has no standby. enableHighAvailability gives it one, which is there after a moment.`)
  if (datastore.failover !== null) throw new AppError('conflict', `The standby of ${datastore.name} is taking its place already.`)
  if (!isInStep(context, standby, RECENT_SECONDS))
    throw new AppError('conflict', `The standby of ${datastore.name} is not in step with it yet. Try again in a minute.`)
  begin(context, datastore.id, firstStepOf(workloadsOf(context.db, OWNER_KIND, datastore.id)))
}

/** How a failover that was asked for begins. Where no server runs, the standby has what it has; one that is starting may be written to until it has ended. */
export const firstStepOf = (workloads: readonly Pick<StoredWorkload, 'phase'>[]): 'handing' | 'fencing' =>
  workloads.some(({ phase }) => phase !== 'pending' && phase !== 'ended') ? 'handing' : 'fencing'

/** After so many ends in a row the files of a server are taken for broken. */
const MOST_ENDS = 5
const KNOWN_SECONDS = 10 * 60

export interface Failing {
  /** When its server has ended, and when it last came up, in milliseconds since 1970. */
  endedAt: readonly number[]
  cameUpAt: number | undefined
  isRunning: boolean
  isStandbyInStep: boolean
}

/**
 * Whether a standby takes the place of a server that does not come up. One that was not in step before is no help, and ends between which it
 * came up are none of broken files: a start loses nothing, and the standby may lack the last that was acknowledged.
 */
export const isToFailOver = ({ endedAt, cameUpAt = 0, isRunning, isStandbyInStep }: Failing): boolean =>
  !isRunning && endedAt.filter((at) => at > cameUpAt).length >= MOST_ENDS && isStandbyInStep

/** Has the standby take the place of a database whose server does not come up. */
export function failOverIfBroken(context: AppContext, id: string): void {
  const datastore = datastoreById(context.db, id)
  if (datastore?.phase !== 'ready' || datastore.primaryId !== null || datastore.suspendedBy !== null) return
  if (datastore.failover !== null || datastore.upgrade !== null) return
  const standby = standbyOf(context, datastore)
  if (standby === undefined || standby.version !== datastore.version) return
  const workloads = workloadsOf(context.db, OWNER_KIND, id)
  const failing = {
    endedAt: workloads.flatMap(({ exits }) => exits.map(({ at }) => at)),
    cameUpAt: newestEventAt(context.db, id, 'postgres_available'),
    isRunning: workloads.some(({ phase }) => phase === 'running'),
    isStandbyInStep: isInStep(context, standby, KNOWN_SECONDS),
  }
  if (isToFailOver(failing)) begin(context, id, 'fencing')
}

function isInStep({ db, now }: AppContext, { id, phase, failover }: StoredDatastore, withinSeconds: number): boolean {
  const isUp = workloadsOf(db, OWNER_KIND, id).some((workload) => workload.phase === 'running')
  const nowSeconds = Math.floor(now() / 1000)
  const newest = newestLag(db, id, { since: nowSeconds - withinSeconds, until: nowSeconds })
  return isUp && phase === 'ready' && failover === null && newest !== undefined && newest.lagMs <= MOST_LAG_MS
}

function begin(context: AppContext, id: string, failover: 'handing' | 'fencing'): void {
  inOneChange(context.db, () => {
    updateDatastore(context.db, id, { failover }, context.now())
    context.work.poke('datastore', id)
  })
}
