import { insertRole } from '../../server/identity/permissions/role-store.ts'
import { hashToken, newToken } from '../../server/identity/tokens/token.ts'
import { newId } from '../../server/platform/id.ts'
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
  const token = newToken()
  const now = Date.now()
  db.query(
    `INSERT INTO sessions (id, user_id, kind, token_hash, address, client, created_at, last_seen_at, expires_at)
     VALUES ($id, $userId, 'browser', $hash, '', '', $now, $now, $expiresAt)`,
  ).run({ id: newId('session', now), userId, hash: hashToken(token), now, expiresAt: now + SESSION_MS })
  return `cpd_session=${token}`
}

/** Adds a person straight in the database, as a member with a role. They have no password. */
export function addPerson({ server: { db }, workspaceId }: { server: TestServer; workspaceId: string }, role: string): string {
  const now = Date.now()
  const userId = newId('user', now)
  db.query("INSERT INTO users (id, email, name, password_hash, created_at) VALUES (?, ?, 'Somebody', '', ?)").run(
    userId,
    `${userId}@example.com`,
    now,
  )
  db.query('INSERT INTO members (workspace_id, user_id, role, created_at) VALUES (?, ?, ?, ?)').run(workspaceId, userId, role, now)
  return userId
}
