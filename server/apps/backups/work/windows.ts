import type { AppContext } from '../../context.ts'
import { datastoreById } from '../../datastores/store.ts'
import { currentBackups, type StoredBackup } from '../rows/backup-store.ts'
import { storedSegments } from '../rows/object-store.ts'
import type { BackupSet } from '../rows/set-store.ts'
import { type Recoverable, recoverable } from '../rules/chain.ts'
import { lineagesOf } from '../rules/lineages.ts'
import { deletedAtOf } from '../rules/retention.ts'

/** What a datastore can be taken back to, oldest first. The log of one that is gone ends where it went, that of a lineage where the next began. */
export function recoverableOf({ db, now }: Pick<AppContext, 'db' | 'now'>, set: BackupSet): Recoverable<StoredBackup>[] {
  const { datastoreId } = set
  return lineagesOf(set).flatMap(({ lineage, until = endOf({ db, now }, set) }) =>
    recoverable(currentBackups(db, { datastoreId, lineage }), storedSegments(db, { datastoreId, lineage }), until),
  )
}

function endOf({ db, now }: Pick<AppContext, 'db' | 'now'>, { datastoreId, keptUntil, adoptedUntil }: BackupSet): number {
  if (adoptedUntil !== null) return adoptedUntil
  return keptUntil === null || datastoreById(db, datastoreId) !== undefined ? now() : deletedAtOf(keptUntil)
}
