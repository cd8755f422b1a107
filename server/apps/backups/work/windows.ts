import type { AppContext } from '../../context.ts'
import { datastoreById } from '../../datastores/store.ts'
import { backupsOf, type StoredBackup } from '../rows/backup-store.ts'
import { storedSegments } from '../rows/object-store.ts'
import type { BackupSet } from '../rows/set-store.ts'
import { type Recoverable, recoverable } from '../rules/chain.ts'
import { deletedAtOf } from '../rules/retention.ts'

/** What a datastore can be taken back to. The log of one that is gone ends where it went. */
export function recoverableOf(
  { db, now }: Pick<AppContext, 'db' | 'now'>,
  { datastoreId, keptUntil, adoptedUntil }: BackupSet,
): Recoverable<StoredBackup>[] {
  const log = storedSegments(db, datastoreId)
  if (adoptedUntil !== null) return recoverable(backupsOf(db, datastoreId), log, adoptedUntil)
  const until = keptUntil === null || datastoreById(db, datastoreId) !== undefined ? now() : deletedAtOf(keptUntil)
  return recoverable(backupsOf(db, datastoreId), log, until)
}
