import type { WorkloadOwner } from '../../runtime/workloads/owner.ts'
import type { AppContext } from '../context.ts'
import { releaseById } from '../deploys/release-store.ts'
import { prepareInstance } from '../launch/launch.ts'
import { preferredPortOf } from '../launch/preferred-port.ts'
import { releaseOwner } from '../launch/release-workload.ts'
import { serviceById } from '../services/store.ts'
import { INSTANCE, instanceById, type StoredInstance, updateInstance } from '../workloads/instance-store.ts'
import { awaitRequests } from './drain.ts'
import { recordEnd } from './ends.ts'
import { probeInstance } from './probe.ts'

export const instanceOwner = (context: AppContext): WorkloadOwner => ({
  ...INSTANCE,
  ...releaseOwner(context),
  policy: { restarts: 'always', starts: 'when_told' },
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
  async drain({ id }, signal) {
    // An earlier control plane may have died before the routes said what its database did.
    await context.routes.publish()
    const instance = instanceById(context.db, id)
    if (instance !== undefined) await awaitRequests(context, instance, signal)
  },
  onChange: ({ ownerId }) => context.work.poke('service', ownerId),
})

/** One that was found at a port of its own will be there again, unless it is told another than before. */
function reachedAt(instance: StoredInstance | undefined, { known, port }: { known: number | null; port: number }): number {
  const isAsPreferred = instance !== undefined && preferredPortOf(instance) === port
  return isAsPreferred ? (known ?? port) : port
}
