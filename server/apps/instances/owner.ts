import { newInstanceId } from '../../platform/id.ts'
import type { WorkloadOwner } from '../../runtime/workloads/owner.ts'
import type { StoredWorkload } from '../../runtime/workloads/store.ts'
import type { AppContext } from '../context.ts'
import { releaseById } from '../deploys/release-store.ts'
import { diskOfService } from '../disks/store.ts'
import { prepareInstance } from '../launch/launch.ts'
import { ownPortOf, preferredPortOf } from '../launch/preferred-port.ts'
import { releaseOwner } from '../launch/release-workload.ts'
import { serviceById } from '../services/store.ts'
import { INSTANCE, insertInstance, instanceById, portOfRelease, type StoredInstance, updateInstance } from '../workloads/instance-store.ts'
import { instanceSpecOf } from '../workloads/service-sets.ts'
import { noteDowntimeStart } from './downtime.ts'
import { awaitRequests } from './drain.ts'
import { recordEnd } from './ends.ts'
import { probeInstance } from './probe.ts'
import { diskRules } from './situation.ts'
import { giveUpRest } from './sleep.ts'

export const instanceOwner = (context: AppContext): WorkloadOwner => ({
  ...INSTANCE,
  ...releaseOwner(context),
  policy: { restarts: 'always' },
  newId: ({ ownerId }) => newInstanceId(ownerId),
  onAdded: (workload) => recordInstance(context, workload),
  isHeld: ({ ownerId }) => isHeld(context, ownerId),
  isExclusive: ({ ownerId }) => diskOfService(context.db, ownerId) !== undefined,
  beforeStart: async ({ id }) => updateInstance(context.db, id, { misplaced: null }),
  async specOf({ id, ownerId }) {
    const [service, instance] = [serviceById(context.db, ownerId), instanceById(context.db, id)]
    const release = releaseById(context.db, instance?.releaseId ?? '')
    if (service === undefined || instance === undefined || release === undefined) throw new Error(`Instance ${id} has no release to start`)
    return await prepareInstance(context, { service, release, instance })
  },
  portAt: ({ id, port: known }, { port }) => reachedAt(instanceById(context.db, id), { known, port }),
  untilReady: ({ id }, signal) => probeInstance(context, id, signal),
  onEnd: ({ id }, end) => recordEnd(context, id, end),
  onFreezeFailed: (workload) => giveUpRest(context, workload),
  onStopping: (workloads) => recordDrain(context, workloads),
  async drain({ id }, signal) {
    // An earlier control plane may have died before the routes said what its database did.
    await context.routes.publish()
    const instance = instanceById(context.db, id)
    if (instance !== undefined) await awaitRequests(context, instance, signal)
  },
})

/** One that was found at a port of its own will be there again, unless it is told another than before. */
function reachedAt(instance: StoredInstance | undefined, { known, port }: { known: number | null; port: number }): number {
  const isAsPreferred = instance !== undefined && preferredPortOf(instance) === port
  return isAsPreferred ? (known ?? port) : port
}

function recordInstance(context: AppContext, { id, ownerId, ...workload }: StoredWorkload): void {
  const { db } = context
  const { deployId, releaseId, generation } = instanceSpecOf({ id, ...workload })
  const service = serviceById(db, ownerId)
  const ownPort = service === undefined ? null : ownPortOf(context, service, releaseId)
  const port = portOfRelease(db, releaseId) ?? preferredPortOf({ ownPort })
  insertInstance(db, { id, deployId, releaseId, generation, ownPort, port })
}

/** The plan of the service drops what is not to run, but a set that it has applied before may be about to begin. */
function isHeld({ db }: AppContext, serviceId: string): boolean {
  const service = serviceById(db, serviceId)
  return service === undefined || service.suspendedAt !== null || service.deletedAt !== null || diskRules({ db }, service).isHalted
}

function recordDrain(context: AppContext, workloads: readonly StoredWorkload[]): void {
  const ids = workloads.map(({ id }) => id)
  const service = serviceById(context.db, workloads[0]?.ownerId ?? '')
  if (service !== undefined) noteDowntimeStart(context, service, ids)
  for (const id of ids) updateInstance(context.db, id, { isServing: false, drainingAt: context.now() })
}
