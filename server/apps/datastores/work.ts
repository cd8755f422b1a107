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

export function createDatastoreWork(context: AppContext, servers: DatastoreServers): DatastoreWork {
  const driver = createDriver({
    run: (datastoreId) => reconcileDatastore(context, servers, datastoreId),
    onError: (datastoreId, error) => context.log.error('datastore not reconciled', { datastoreId, ...describeError(error) }),
    now: context.now,
    after: context.after,
    signal: context.stopping,
  })
  return {
    poke: driver.poke,
    pokeAll() {
      for (const { id } of allDatastores(context.db)) driver.poke(id)
    },
    settled: driver.settled,
  }
}
