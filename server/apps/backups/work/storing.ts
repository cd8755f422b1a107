import { describeError } from '../../../platform/server-log.ts'
import { createDriver } from '../../../platform/work/driver.ts'
import type { AppContext } from '../../context.ts'
import { archiveWal } from '../postgres/archive-wal.ts'
import type { RepositoryDeps } from '../repository/repository.ts'

export interface Storing {
  /** Moves what is finished of a database's log into the repository. Who asks while that is under way waits for the same. */
  archive(datastoreId: string): Promise<void>
  poke(datastoreId: string): void
  settled(): Promise<void>
}

export function createStoring(context: AppContext, deps: RepositoryDeps): Storing {
  const { now, after, stopping } = context
  const underWay = new Map<string, Promise<unknown>>()
  async function archive(id: string): Promise<void> {
    const archiving = underWay.get(id) ?? archiveWal(deps, id, stopping).finally(() => underWay.delete(id))
    underWay.set(id, archiving)
    await archiving
  }
  const driver = createDriver({
    run: async (id) => void (await archive(id)),
    onError: (datastoreId, error) => {
      if (!stopping.aborted) context.log.error('log of a database not stored', { datastoreId, ...describeError(error) })
    },
    now,
    after,
    signal: stopping,
  })
  return { archive, poke: driver.poke, settled: driver.settled }
}
