import { AppError, invalidValue } from '../../../../shared/error.ts'
import type { Actor } from '../../../http/handlers/call.ts'
import type { AppContext } from '../../context.ts'
import { isDatastoreNameTaken } from '../../datastores/store.ts'
import { backupById, backupsOf } from '../rows/backup-store.ts'
import type { BackupSet } from '../rows/set-store.ts'
import { chainOf } from '../rules/chain.ts'

/** @throws AppError forbidden for who may make no datastore. */
export function requireCreation({ permissions }: Pick<Actor, 'permissions'>): void {
  if (!permissions.has('datastores.create'))
    throw new AppError(
      'forbidden',
      'A recovery makes a new database or store, for which your role lacks datastores.create. Ask an administrator for it.',
    )
}

/** @throws AppError validation_failed for a backup that is not there, not whole, or of another datastore. */
export function requireWhole({ db }: Pick<AppContext, 'db'>, { datastoreId }: BackupSet, backupId: string): void {
  const isWhole = backupById(db, backupId)?.datastoreId === datastoreId && chainOf(backupsOf(db, datastoreId), backupId) !== undefined
  if (!isWhole) throw invalidValue('/backupId', `There is no complete and sound backup ${backupId} of it.`)
}

/** A name that is made of the former one, and is nobody's in the workspace. */
export function freeName({ db }: Pick<AppContext, 'db'>, { workspaceId, name }: Pick<BackupSet, 'workspaceId' | 'name'>): string {
  const candidates = Array.from({ length: 1000 }, (_, index) => `${name.slice(0, 40)}-recovered${index === 0 ? '' : `-${index + 1}`}`)
  return candidates.find((candidate) => !isDatastoreNameTaken(db, workspaceId, { name: candidate })) ?? name
}
