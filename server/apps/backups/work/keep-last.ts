import type { StoredDatastore } from '../../datastores/store.ts'
import { requireRow } from '../../key-value/store.ts'
import { backupsOf, currentBackups, updateBackup } from '../rows/backup-store.ts'
import { backupSetOf, updateBackupSet } from '../rows/set-store.ts'
import { keptUntilOf } from '../rules/retention.ts'
import { currentSet } from './current-set.ts'
import { takePostgres } from './keep-postgres.ts'
import { keepStore } from './keep-store.ts'
import type { Keeping } from './keeping.ts'
import { followLineage } from './lineage.ts'
import { sourceOf } from './source.ts'
import { requestBackup, type Taking, takeRequested } from './take-next.ts'

/** Sees to it that what a datastore held can be recovered, before anything of it is taken away. Repeatable. */
export async function keepLast(keeping: Keeping, datastore: StoredDatastore): Promise<void> {
  const { db, now } = keeping.context
  if (backupSetOf(db, datastore.id)?.keptUntil != null) return
  if (datastore.kind === 'postgres') await keepLog(keeping, datastore)
  else await keepContent(keeping, datastore)
  const reason = 'It was deleted meanwhile.'
  for (const { id, status } of backupsOf(db, datastore.id)) if (status === 'creating') updateBackup(db, id, { status: 'failed', reason })
  updateBackupSet(db, datastore.id, { keptUntil: keptUntilOf(now()) })
}

/** The log up to its end, behind the backup before; a backup of its own where there was none. */
async function keepLog(keeping: Keeping, datastore: StoredDatastore): Promise<void> {
  const { context, deps, relays, receivers } = keeping
  const source = await sourceOf(context, relays, { ...datastore, phase: 'ready' })
  if (source !== undefined) await followLineage(context, { deps, storing: receivers }, datastore)
  const set = backupSetOf(context.db, datastore.id)
  if (set === undefined) return
  const isThere = currentBackups(context.db, set).some(({ status }) => status === 'available')
  if (!isThere && source !== undefined)
    await takeFinal(keeping, datastore, async (backup) => {
      receivers.poke(datastore.id)
      return await takePostgres(keeping, source, backup)
    })
  await receivers.finish(datastore)
}

/** There is no log of stores: all that they hold is taken once more, unless nothing of it was to be kept. */
async function keepContent(keeping: Keeping, datastore: StoredDatastore): Promise<void> {
  const { take } = keepStore(keeping, datastore)
  if (take === undefined || requireRow(keeping.context.db, datastore.id).persistenceMode === 'off') return
  await currentSet(keeping.context, datastore)
  await takeFinal(keeping, datastore, take)
}

async function takeFinal({ context, deps }: Keeping, { id }: StoredDatastore, take: Taking['take']): Promise<void> {
  const set = backupSetOf(context.db, id)
  const known = backupsOf(context.db, id).find(({ origin }) => origin === 'final')
  if (set === undefined || known?.status === 'available') return
  const isBegun = known?.status === 'creating'
  const backup = isBegun ? known : requestBackup(context, id, { due: { kind: 'full' }, origin: 'final' })
  await takeRequested({ context, deps, set, take }, backup)
}
