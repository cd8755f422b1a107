import { insertCredential } from '../../server/apps/datastores/credential-store.ts'
import type { DatastoreKind } from '../../server/apps/datastores/store.ts'
import { newId } from '../../server/platform/id.ts'
import type { TestServer } from './server.ts'

interface Wanted {
  workspaceId: string
  kind?: DatastoreKind
  name?: string
  environmentId?: string | null
  /** For servers that would run it otherwise. */
  isSuspended?: true
}

const FIRST_NUMBER = 40_000
let count = 0

/** Adds a datastore straight in the database: nothing of it runs. */
export function addDatastore(
  { db, context: { sealer } }: Pick<TestServer, 'db' | 'context'>,
  { workspaceId, kind = 'postgres', name, environmentId = null, isSuspended }: Wanted,
): string {
  const number = FIRST_NUMBER + ++count
  const id = newId(kind === 'postgres' ? 'postgres' : 'keyValue')
  db.query(
    `INSERT INTO datastores (id, kind, workspace_id, environment_id, name, number, plan, version, volume_id, volume_kind, size_gb, ip_allow_list,
       phase, suspended_by, created_at, updated_at)
     VALUES ($id, $kind, $workspaceId, $environmentId, $name, $number, 'free', $version, $volumeId, 'folder', 1, '[]', 'ready', $suspendedBy, $now, $now)`,
  ).run({
    ...{ id, kind, workspaceId, environmentId, name: name ?? `store-${number}`, number },
    version: kind === 'postgres' ? '18' : '9',
    volumeId: newId('volume'),
    suspendedBy: isSuspended ? '["user"]' : null,
    now: Date.now(),
  })
  if (kind === 'postgres')
    db.query(
      `INSERT INTO postgres_databases (id, database_name, database_user, admin_password_sealed, backup_password_sealed)
       VALUES (?, 'app', 'app_user', '', '')`,
    ).run(id)
  else
    db.query(
      `INSERT INTO key_value_stores (id, maxmemory_policy, persistence_mode, admin_password_sealed)
       VALUES (?, 'allkeys_lru', 'journal_snapshot', '')`,
    ).run(id)
  const userName = kind === 'postgres' ? 'app_user' : id
  insertCredential(db, sealer, { datastoreId: id, userName, password: 'password', createdAt: Date.now() })
  return id
}
