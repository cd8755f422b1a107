import type { AppContext } from '../../context.ts'
import type { StoredDatastore } from '../../datastores/store.ts'
import { keyValueById } from '../../key-value/store.ts'
import { postgresById } from '../../postgres/store.ts'
import { currentKey } from '../repository/key.ts'
import { type BackupSet, backupSetOf, ensureBackupSet, type Recipe, updateBackupSet } from '../rows/set-store.ts'

/** The set of a datastore, begun where there is none, with what the datastore is like today. */
export async function currentSet(context: AppContext, datastore: StoredDatastore): Promise<BackupSet | undefined> {
  const { db, now } = context
  const { id: datastoreId, kind, workspaceId, environmentId, name, version } = datastore
  const recipe = recipeOf(context, datastore)
  if (recipe === undefined) return undefined
  const today = { kind, workspaceId, environmentId, name, version, recipe }
  if (backupSetOf(db, datastoreId) === undefined) {
    const { recipient } = await currentKey(context)
    ensureBackupSet(db, { ...today, datastoreId, recipient, createdAt: now() })
  } else updateBackupSet(db, datastoreId, today)
  return backupSetOf(db, datastoreId)
}

function recipeOf({ db }: AppContext, { id, kind, plan, sizeGb }: StoredDatastore): Recipe | undefined {
  if (kind === 'key_value') {
    const store = keyValueById(db, id)
    return store && { plan, sizeGb, maxmemoryPolicy: store.maxmemoryPolicy, persistenceMode: store.persistenceMode }
  }
  const own = postgresById(db, id)
  if (own === undefined) return undefined
  const { databaseName, databaseUser, parameterOverrides } = own
  return { plan, sizeGb, databaseName, databaseUser, parameterOverrides }
}
