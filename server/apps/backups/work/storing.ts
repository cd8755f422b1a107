import { messageOf } from '../../../../shared/error.ts'
import { describeError } from '../../../platform/server-log.ts'
import { createDriver } from '../../../platform/work/driver.ts'
import type { AppContext } from '../../context.ts'
import { datastoreById } from '../../datastores/store.ts'
import { archiveWal } from '../postgres/archive-wal.ts'
import type { RepositoryDeps } from '../repository/repository.ts'
import type { StreamHealth } from './stream-health.ts'

export interface Storing {
  /** Moves what is finished of a database's log into the repository. Who asks while that is under way waits for the same. */
  archive(datastoreId: string): Promise<void>
  poke(datastoreId: string): void
  settled(): Promise<void>
}

export function createStoring(context: AppContext, deps: RepositoryDeps, health: StreamHealth): Storing {
  const { now, after, stopping } = context
  const underWay = new Map<string, Promise<unknown>>()
  async function archive(id: string): Promise<void> {
    const archiving = underWay.get(id) ?? archiveWal(deps, id, stopping).finally(() => underWay.delete(id))
    underWay.set(id, archiving)
    await archiving
  }
  const driver = createDriver({
    async run(id) {
      await archive(id)
      health.sound(id, 'stored')
      return undefined
    },
    onError: (datastoreId, error) => {
      if (stopping.aborted) return
      context.log.error('log of a database not stored', { datastoreId, ...describeError(error) })
      const datastore = datastoreById(context.db, datastoreId)
      if (datastore !== undefined) health.failed(datastore, 'stored', messageOf(error))
    },
    now,
    after,
    signal: stopping,
  })
  return { archive, poke: driver.poke, settled: driver.settled }
}
