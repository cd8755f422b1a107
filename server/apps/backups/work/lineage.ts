/** A database of another major version writes another log: what was received of the one before is stored first, the segment that was begun as its last. */
import { inOneChange } from '../../../platform/db/change.ts'
import type { AppContext } from '../../context.ts'
import type { StoredDatastore } from '../../datastores/store.ts'
import { postgresById } from '../../postgres/store.ts'
import { endUnfinished } from '../postgres/receiver.ts'
import type { RepositoryDeps } from '../repository/repository.ts'
import { currentBackups, updateBackup } from '../rows/backup-store.ts'
import { backupSetOf, updateBackupSet } from '../rows/set-store.ts'
import { continued } from '../rules/lineages.ts'
import type { Storing } from './storing.ts'

/** Whether what is received, and what backups are taken of, is what the server writes now. */
export const isOfLineage = ({ db }: Pick<AppContext, 'db'>, { id }: Pick<StoredDatastore, 'id'>): boolean =>
  backupSetOf(db, id)?.lineage === postgresById(db, id)?.lineage

/** Has the set of a database follow it into its lineage. Nothing is received meanwhile. Repeatable. */
export async function followLineage(
  context: AppContext,
  { deps, storing }: { deps: RepositoryDeps; storing: Pick<Storing, 'archive'> },
  { id, version }: StoredDatastore,
): Promise<void> {
  const { db, now } = context
  const [set, own] = [backupSetOf(db, id), postgresById(db, id)]
  if (set === undefined || own === undefined) return
  const change = continued(set, { lineage: own.lineage, version, since: own.lineageAt ?? now() })
  if (change === undefined) return
  endUnfinished(deps, id, Number.POSITIVE_INFINITY)
  await storing.archive(id)
  inOneChange(db, () => {
    const reason = 'The database was brought to another version meanwhile.'
    for (const backup of currentBackups(db, set))
      if (backup.status === 'creating') updateBackup(db, backup.id, { status: 'failed', reason })
    updateBackupSet(db, id, { ...change, former: [...change.former] })
  })
}
