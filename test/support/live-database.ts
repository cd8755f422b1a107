import { insertCredential, passwordPurpose } from '../../server/apps/datastores/credential-store.ts'
import { stored } from '../../server/apps/datastores/operations.ts'
import { setIdOf } from '../../server/apps/datastores/plan.ts'
import { OWNER_KIND } from '../../server/apps/datastores/store.ts'
import { initialise } from '../../server/apps/postgres/initialise.ts'
import { postgresById } from '../../server/apps/postgres/store.ts'
import { insertSet } from '../../server/runtime/workloads/set-store.ts'
import { insertWorkload, updateWorkload } from '../../server/runtime/workloads/store.ts'
import { addDatastore } from './datastores.ts'
import type { PostgresServer } from './postgres-server.ts'
import type { TestServer } from './server.ts'

/** What the first user of such a database connects with. */
export const tenant = { user: 'app_user', password: 'password-of-the-tenant', database: 'app' }

/** A database as the API knows it, on a server that a test has started itself. */
export async function addLiveDatabase(server: TestServer, workspaceId: string, { port }: Pick<PostgresServer, 'port'>): Promise<string> {
  const { db, context } = server
  const password = 'pw'
  const id = addDatastore(server, { workspaceId })
  const sealed = (user: string) => context.sealer.seal(password, passwordPurpose(id, user))
  db.query('UPDATE postgres_databases SET admin_password_sealed = ?, backup_password_sealed = ? WHERE id = ?').run(
    sealed('admin'),
    sealed('backup'),
    id,
  )
  db.query("UPDATE datastores SET version = '16' WHERE id = ?").run(id)
  db.query('DELETE FROM datastore_credentials WHERE datastore_id = ?').run(id)
  insertCredential(db, context.sealer, { datastoreId: id, userName: tenant.user, password: tenant.password, createdAt: Date.now() })
  const own = postgresById(db, id)
  if (own === undefined) throw new Error('It was added just now')
  const endpoint = { host: '127.0.0.1', port }
  const passwords = { admin: password, backup: password }
  await initialise(context, { endpoint, own, passwords, version: 16, isNew: true, password: tenant.password })
  const setId = setIdOf(stored(context, id))
  const owned = { ownerKind: OWNER_KIND, ownerId: id, purpose: 'server', createdAt: Date.now() }
  insertSet(db, { ...owned, id: setId, spec: {}, replicas: 1 })
  insertWorkload(db, { ...owned, id: `${id}-server`, setId, phase: 'running' })
  updateWorkload(db, `${id}-server`, { address: endpoint.host, port })
  return id
}
