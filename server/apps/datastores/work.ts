import { describeError } from '../../platform/server-log.ts'
import { createDriver, type Driver } from '../../platform/work/driver.ts'
import type { AppContext } from '../context.ts'
import { createDiskWatch } from './disk-watch.ts'
import type { DatastoreServers } from './kind.ts'
import { createMeasuring } from './measure.ts'
import { reconcileDatastore } from './reconcile.ts'
import { allDatastores, datastoreById, followersOf } from './store.ts'
import { tendDatastore } from './tend.ts'

export interface DatastoreWork {
  poke(datastoreId: string): void
  pokeAll(): void
  settled(): Promise<void>
}

/** Where a datastore is reached, and whether it is, may have changed with each step. */
function publish({ routes, stopping, log }: AppContext): void {
  routes.publish().catch((error) => {
    if (!stopping.aborted) log.error('routes not published', describeError(error))
  })
}

export function createDatastoreWork(context: AppContext, servers: DatastoreServers): DatastoreWork {
  const disks = createDiskWatch(context, servers)
  const measure = createMeasuring(context, servers)
  const drivers = [
    driverOf(context, 'datastore not reconciled', async (datastoreId) => {
      const kind = datastoreById(context.db, datastoreId)?.kind
      if (kind !== undefined) servers[kind]?.onLook?.(datastoreId)
      const nextAt = await reconcileDatastore(context, servers, datastoreId)
      publish(context)
      return nextAt
    }),
    driverOf(context, 'datastore not tended', (datastoreId) => tendDatastore(context, servers, datastoreId)),
    driverOf(context, 'disk of a datastore not watched', (datastoreId) => disks.look(datastoreId)),
    driverOf(context, 'datastore not measured', measure),
  ]
  const drive = (datastoreId: string) => {
    for (const driver of drivers) driver.poke(datastoreId)
  }
  return {
    poke(datastoreId) {
      publish(context)
      context.work.poke('certificates')
      for (const { id } of followersOf(context.db, datastoreId)) drive(id)
      drive(datastoreId)
    },
    pokeAll() {
      for (const { id } of allDatastores(context.db)) drive(id)
    },
    settled: async () => void (await Promise.all(drivers.map((driver) => driver.settled()))),
  }
}

const driverOf = (context: AppContext, failure: string, run: (datastoreId: string) => Promise<number | undefined>): Driver =>
  createDriver({
    run,
    onError: (datastoreId, error) => context.log.error(failure, { datastoreId, ...describeError(error) }),
    now: context.now,
    after: context.after,
    signal: context.stopping,
  })
