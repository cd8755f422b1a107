import { describeError } from '../../../platform/server-log.ts'
import { createDriver } from '../../../platform/work/driver.ts'
import type { AppContext } from '../../context.ts'
import { allDatastores, datastoreById, type StoredDatastore } from '../../datastores/store.ts'
import { openBucket } from '../repository/bucket.ts'
import { clearWork, type RepositoryDeps } from '../repository/repository.ts'
import { backupsOf } from '../rows/backup-store.ts'
import { allRecoveries } from '../rows/recovery-store.ts'
import { allBackupSets, backupSetOf, updateBackupSet } from '../rows/set-store.ts'
import { keptUntilOf } from '../rules/retention.ts'
import { type Keeping, keepBackups } from './keep.ts'
import { createOffsite } from './offsite.ts'
import { createReceivers } from './receivers.ts'
import { createRecoveries } from './recoveries.ts'
import { createRelays } from './relay.ts'
import { sourceOf } from './source.ts'
import { requestBackup, takeRequested } from './take-next.ts'

export interface BackupWork {
  poke(datastoreId: string): void
  pokeAll(): void
  keepLast(datastoreId: string): Promise<void>
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
  const keeper = createDriver({
    ...common,
    onError: failed('backups not kept'),
    async run(id) {
      if (!cleared.has(id)) await clearWork(deps, id)
      cleared.add(id)
      return await keepBackups({ context, deps, receivers, relays }, id)
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
      for (const { id, kind } of allDatastores(db)) if (kind === 'postgres') poke(id)
      for (const { datastoreId } of allBackupSets(db)) keeper.poke(datastoreId)
      for (const { datastoreId } of allRecoveries(db)) recoveries.poke(datastoreId)
    },
    async keepLast(datastoreId) {
      const datastore = datastoreById(db, datastoreId)
      try {
        if (datastore !== undefined) await keepLast({ context, deps, receivers, relays }, datastore)
      } catch (error) {
        if (stopping.aborted) throw error
        failed('last backup not kept')(datastoreId, error)
      }
    },
    settled: async () => void (await Promise.all([receivers, keeper, recoveries, offsite].map((part) => part.settled()))),
  }
}

/** The log up to its end, behind the backup before; a backup of its own where there was none. */
async function keepLast({ context, deps, receivers, relays }: Keeping, datastore: StoredDatastore): Promise<void> {
  const set = backupSetOf(context.db, datastore.id)
  if (set === undefined || set.keptUntil !== null) return
  const isThere = backupsOf(context.db, datastore.id).some(({ status }) => status === 'available')
  const source = await sourceOf(context, relays, { ...datastore, phase: 'ready' })
  if (!isThere && source !== undefined) {
    const backup = requestBackup(context, datastore.id, { due: { kind: 'full' }, origin: 'final' })
    await takeRequested({ context, deps, receivers, set, source }, backup)
  }
  await receivers.finish(datastore)
  updateBackupSet(context.db, datastore.id, { keptUntil: keptUntilOf(context.now()) })
}
