import type { AppContext } from '../../context.ts'
import type { StoredDatastore } from '../../datastores/store.ts'
import { postgresById } from '../../postgres/store.ts'
import { currentKey } from '../repository/key.ts'
import { type BackupSet, backupSetOf, ensureBackupSet, type Recipe, updateBackupSet } from '../rows/set-store.ts'

/** The set of a database, begun where there is none, with what the database is like today. */
export async function currentSet(context: AppContext, datastore: StoredDatastore): Promise<BackupSet | undefined> {
  const { db, now } = context
  const own = postgresById(db, datastore.id)
  if (own === undefined) return undefined
  const { id: datastoreId, kind, workspaceId, environmentId, name, version, plan, sizeGb } = datastore
  const { databaseName, databaseUser, parameterOverrides } = own
  const recipe: Recipe = { plan, sizeGb, databaseName, databaseUser, parameterOverrides }
  const today = { kind, workspaceId, environmentId, name, version, recipe }
  if (backupSetOf(db, datastoreId) === undefined) {
    const { recipient } = await currentKey(context)
    ensureBackupSet(db, { ...today, datastoreId, recipient, createdAt: now() })
  } else updateBackupSet(db, datastoreId, today)
  return backupSetOf(db, datastoreId)
}
