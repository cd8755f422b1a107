import { hashPassword } from '../../server/identity/passwords/password.ts'
import { newId } from '../../server/platform/id.ts'
import { call, cookieOf } from './client.ts'
import type { TestServer } from './server.ts'

export const memberPassword = 'another horse battery'

/** Makes an API key of a role and gives its secret and id. */
export async function makeKey(server: TestServer, role: string, token = server.adminToken): Promise<{ id: string; secret: string }> {
  const reply = await call<{ id: string; secret: string }>(`${server.url}/v1/api-keys`, { json: { name: `${role} key`, role }, token })
  if (reply.status !== 201) throw new Error(`No key: ${JSON.stringify(reply.body)}`)
  return reply.body
}

export interface Tenant {
  workspaceId: string
  userId: string
  email: string
  cookie: string
  /** An administrator's key of this workspace. */
  token: string
}

/** Registers somebody with a workspace of their own. */
export async function registerTenant(server: TestServer, email: string): Promise<Tenant> {
  const reply = await call<{ user: { id: string }; workspace: { id: string } }>(`${server.url}/v1/auth/register`, {
    json: { email, password: memberPassword },
  })
  if (reply.status !== 201) throw new Error(`Not registered: ${JSON.stringify(reply.body)}`)
  const cookie = cookieOf(reply)
  const key = await call<{ secret: string }>(`${server.url}/v1/api-keys`, {
    json: { name: 'tenant', role: 'admin' },
    cookie,
    headers: { origin: server.url },
  })
  return { workspaceId: reply.body.workspace.id, userId: reply.body.user.id, email, cookie, token: key.body.secret }
}

/** Adds a member to a workspace straight in the database and logs them in. */
export async function addMember(
  server: TestServer,
  workspaceId: string,
  role: string,
): Promise<{ userId: string; email: string; cookie: string }> {
  const userId = newId('user')
  const email = `${userId}@example.com`
  const passwordHash = await hashPassword(memberPassword)
  server.db
    .query('INSERT INTO users (id, email, name, password_hash, created_at) VALUES (?, ?, ?, ?, ?)')
    .run(userId, email, role, passwordHash, Date.now())
  joinWorkspace(server, { userId, workspaceId, role })
  const reply = await call(`${server.url}/v1/auth/login`, { json: { email, password: memberPassword } })
  return { userId, email, cookie: cookieOf(reply) }
}

export function joinWorkspace(
  server: TestServer,
  { userId, workspaceId, role }: { userId: string; workspaceId: string; role: string },
): void {
  server.db
    .query('INSERT INTO members (workspace_id, user_id, role, created_at) VALUES (?, ?, ?, ?)')
    .run(workspaceId, userId, role, Date.now())
}

/** The workspace that the first start made. */
export async function defaultWorkspaceId(server: TestServer): Promise<string> {
  const me = await call<{ workspace: { id: string } }>(`${server.url}/v1/auth/me`, { token: server.adminToken })
  return me.body.workspace.id
}
