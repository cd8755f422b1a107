import { hashToken, newSessionToken } from '../../server/auth/token.ts'
import { newId } from '../../server/id.ts'
import { insertRole } from '../../server/roles/store.ts'
import type { Permission } from '../../shared/permission.ts'
import type { TestServer } from './server.ts'

const SESSION_MS = 3_600_000

/** Adds a custom role straight in the database and gives its name. */
export function addRole({ server, workspaceId }: { server: TestServer; workspaceId: string }, held: readonly Permission[]): string {
  const name = `role ${crypto.randomUUID()}`
  const now = Date.now()
  insertRole(server.db, {
    id: newId('role', now),
    workspaceId,
    name,
    description: '',
    permissions: new Set(held),
    createdAt: now,
    updatedAt: now,
  })
  return name
}

/** Begins a session straight in the database and gives its cookie: logging in takes a hash each time. */
export function beginSession({ db }: TestServer, userId: string): string {
  const token = newSessionToken()
  const now = Date.now()
  db.query(
    `INSERT INTO sessions (id, user_id, kind, token_hash, address, client, created_at, last_seen_at, expires_at)
     VALUES ($id, $userId, 'browser', $hash, '', '', $now, $now, $expiresAt)`,
  ).run({ id: newId('session', now), userId, hash: hashToken(token), now, expiresAt: now + SESSION_MS })
  return `cpd_session=${token}`
}
