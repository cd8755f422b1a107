import { describeError } from '../../../platform/server-log.ts'
import { createDriver } from '../../../platform/work/driver.ts'
import type { AppContext } from '../../context.ts'
import { allDatastores, datastoreById } from '../../datastores/store.ts'
import { openBucket } from '../repository/bucket.ts'
import { clearWork, type RepositoryDeps } from '../repository/repository.ts'
import { allRecoveries } from '../rows/recovery-store.ts'
import { allBackupSets } from '../rows/set-store.ts'
import { keepBackups } from './keep.ts'
import { keepLast } from './keep-last.ts'
import type { Keeping } from './keeping.ts'
import { createOffsite } from './offsite.ts'
import { createReceivers } from './receivers.ts'
import { createRecoveries } from './recoveries.ts'
import { createRelays } from './relay.ts'

export interface BackupWork {
  poke(datastoreId: string): void
  pokeAll(): void
  isTaking(datastoreId: string): boolean
  keepLast(datastoreId: string): Promise<void>
  untilLogReceived(datastoreId: string): Promise<void>
  settled(): Promise<void>
}

/** @throws AppError bad_request where settings of the bucket lack others. */
export const repositoryOf = ({ db, sealer, paths, now, config }: AppContext): RepositoryDeps => ({
  ...{ db, sealer, paths, now, bucket: openBucket(config) },
})

/** @throws AppError as `repositoryOf`. */
export function createBackupWork(context: AppContext): BackupWork {
  const { db, paths, now, after, stopping } = context
  const deps = repositoryOf(context)
  const failed = (what: string) => (id: string, error: unknown) => {
    if (!stopping.aborted) context.log.error(what, { id, ...describeError(error) })
  }
  const common = { now, after, signal: stopping }
  const relays = createRelays(paths)
  stopping.addEventListener('abort', relays.close)
  const receivers = createReceivers(context, { deps, relays, onStreaming: (id) => keeper.poke(id) })
  const recoveries = createRecoveries(context, deps)
  const cleared = new Set<string>()
  const keeping: Keeping = { context, deps, receivers, relays, drillsTriedAt: new Map(), taking: new Set() }
  const keeper = createDriver({
    ...common,
    onError: failed('backups not kept'),
    async run(id) {
      if (!cleared.has(id)) await clearWork(deps, id)
      cleared.add(id)
      return await keepBackups(keeping, id)
    },
  })
  const offsite = createOffsite(context, deps)
  const poke = (id: string): void => {
    receivers.poke(id)
    keeper.poke(id)
    recoveries.poke(id)
  }
  return {
    poke,
    pokeAll() {
      for (const { id } of allDatastores(db)) poke(id)
      for (const { datastoreId } of allBackupSets(db)) keeper.poke(datastoreId)
      for (const { datastoreId } of allRecoveries(db)) recoveries.poke(datastoreId)
    },
    isTaking: (datastoreId) => keeping.taking.has(datastoreId),
    async untilLogReceived(datastoreId) {
      const datastore = datastoreById(db, datastoreId)
      if (datastore !== undefined) await receivers.untilReceived(datastore)
    },
    async keepLast(datastoreId) {
      const datastore = datastoreById(db, datastoreId)
      try {
        if (datastore !== undefined) await keepLast(keeping, datastore)
      } catch (error) {
        if (stopping.aborted) throw error
        failed('last backup not kept')(datastoreId, error)
      }
    },
    settled: async () => void (await Promise.all([receivers, keeper, recoveries, offsite].map((part) => part.settled()))),
  }
}
