import { insertBackup, updateBackup } from '../../server/apps/backups/rows/backup-store.ts'
import { insertObject } from '../../server/apps/backups/rows/object-store.ts'
import { ensureBackupSet, type Recipe } from '../../server/apps/backups/rows/set-store.ts'
import type { DatastoreKind } from '../../server/apps/datastores/store.ts'
import { newId } from '../../server/platform/id.ts'
import type { TestServer } from './server.ts'

const size = { plan: 'free', sizeGb: 1 }
const recipes: Record<DatastoreKind, Recipe> = {
  postgres: { ...size, databaseName: 'app', databaseUser: 'app_user', parameterOverrides: {} },
  key_value: { ...size, maxmemoryPolicy: 'allkeys_lru', persistenceMode: 'snapshot' },
}

/** Adds backups of a datastore straight in the database of the server: no file of them is there. Returns the id of one that is complete. */
export function addBackups(
  { db }: Pick<TestServer, 'db'>,
  { id: datastoreId, workspaceId, kind = 'postgres' }: { id: string; workspaceId: string; kind?: DatastoreKind },
): string {
  const createdAt = Date.now() - 60_000
  const recipient = 'age1test'
  db.query('INSERT OR IGNORE INTO backup_keys (recipient, identity_sealed, created_at) VALUES (?, ?, 1)').run(recipient, '')
  const known = { kind, workspaceId, environmentId: null, name: 'shop', version: '18' }
  ensureBackupSet(db, { ...known, datastoreId, recipient, recipe: recipes[kind], createdAt })
  const id = newId('backup', createdAt)
  insertBackup(db, { id, datastoreId, kind: 'full', parentId: null, origin: 'scheduled', createdAt })
  updateBackup(db, id, {
    status: 'available',
    timeline: 1,
    startLsn: '0/1000028',
    endLsn: '0/1000100',
    completedAt: createdAt,
    plainBytes: 1,
  })
  insertObject(db, { datastoreId, name: 'wal/000000010000000000000001', digest: '0'.repeat(32), plainBytes: 1, packedBytes: 1, createdAt })
  return id
}
