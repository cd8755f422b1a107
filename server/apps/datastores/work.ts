import { describeError } from '../../platform/server-log.ts'
import { createDriver } from '../../platform/work/driver.ts'
import type { AppContext } from '../context.ts'
import type { DatastoreServers } from './kind.ts'
import { reconcileDatastore } from './reconcile.ts'
import { allDatastores } from './store.ts'

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
  const driver = createDriver({
    async run(datastoreId) {
      const nextAt = await reconcileDatastore(context, servers, datastoreId)
      publish(context)
      return nextAt
    },
    onError: (datastoreId, error) => context.log.error('datastore not reconciled', { datastoreId, ...describeError(error) }),
    now: context.now,
    after: context.after,
    signal: context.stopping,
  })
  return {
    poke(datastoreId) {
      publish(context)
      context.work.poke('certificates')
      driver.poke(datastoreId)
    },
    pokeAll() {
      for (const { id } of allDatastores(context.db)) driver.poke(id)
    },
    settled: driver.settled,
  }
}
