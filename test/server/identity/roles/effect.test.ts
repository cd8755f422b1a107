import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Me } from '../../../../shared/auth.ts'
import type { Role } from '../../../../shared/role.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { call } from '../../../support/client.ts'
import { addMember, defaultWorkspaceId, makeKey } from '../../../support/members.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'
import { closed, openSocket } from '../../../support/socket.ts'

let server: TestServer
let workspaceId: string
beforeAll(async () => {
  server = await startTestServer()
  workspaceId = await defaultWorkspaceId(server)
})
afterAll(() => server.close())

const POLICY_VIOLATION = 1008

let count = 0
async function roleOf(permissions: string[]): Promise<Role> {
  const json = { name: `effect ${++count}`, permissions }
  return (await call<Role>(`${server.url}/v1/roles`, { json, token: server.adminToken })).body
}
const patch = (id: string, json: object) => call<Role>(`${server.url}/v1/roles/${id}`, { method: 'PATCH', json, token: server.adminToken })
const me = (who: { token: string } | { cookie: string }) => call<Me>(`${server.url}/v1/auth/me`, who)
const logsOf = (token: string) => openSocket(`${server.url}/v1/logs/subscribe`, { authorization: `Bearer ${token}` })

test('what a role is changed to holds at the next request of every key and member that has it', async () => {
  const role = await roleOf(['services.read', 'roles.read'])
  const { secret } = await makeKey(server, role.name)
  const { cookie } = await addMember(server, workspaceId, role.name)
  for (const who of [{ token: secret }, { cookie }]) {
    expect((await me(who)).body.permissions).toEqual(['services.read', 'roles.read'])
    expect((await call(`${server.url}/v1/roles`, who)).status).toBe(200)
  }
  await patch(role.id, { permissions: ['services.read', 'logs.read'] })
  for (const who of [{ token: secret }, { cookie }]) {
    expect((await me(who)).body.permissions).toEqual(['services.read', 'logs.read'])
    expectError(await call(`${server.url}/v1/roles`, who), 'forbidden')
    expect((await call(`${server.url}/v1/logs`, who)).status).toBe(200)
  }
})

test('a role that is renamed is renamed for everyone who holds it, and keeps what it may do', async () => {
  const role = await roleOf(['services.read'])
  const { id, secret } = await makeKey(server, role.name.toUpperCase())
  const { cookie } = await addMember(server, workspaceId, role.name)
  server.db
    .query(
      `INSERT INTO invites (id, workspace_id, email, role, token_hash, inviter_type, inviter_id, created_at, expires_at)
       VALUES ('inv-renamed', ?, 'renamed@example.com', ?, 'renamed', 'user', 'usr-1', 1, 2)`,
    )
    .run(workspaceId, role.name)
  await patch(role.id, { name: 'Renamed' })
  for (const who of [{ token: secret }, { cookie }])
    expect((await me(who)).body).toMatchObject({ role: 'Renamed', permissions: ['services.read'] })
  const keys = await call<{ id: string; role: string }[]>(`${server.url}/v1/api-keys`, { token: server.adminToken })
  expect(keys.body.find((key) => key.id === id)?.role).toBe('Renamed')
  expect(server.db.query("SELECT role FROM invites WHERE id = 'inv-renamed'").get()).toEqual({ role: 'Renamed' })
  // The old name is free, and what gets it now has nothing to do with them.
  await call(`${server.url}/v1/roles`, { json: { name: role.name, permissions: ['shell.open'] }, token: server.adminToken })
  expect((await me({ token: secret })).body.permissions).toEqual(['services.read'])
})

test('a WebSocket is closed within 5 s when the role of its caller loses the permission, and stays open when it keeps it', async () => {
  const losing = await roleOf(['services.read', 'logs.read'])
  const keeping = await roleOf(['services.read', 'logs.read'])
  const lost = await logsOf((await makeKey(server, losing.name)).secret)
  const kept = await logsOf((await makeKey(server, keeping.name)).secret)
  const end = closed(lost)
  await patch(keeping.id, { name: 'kept', permissions: ['logs.read'] })
  await patch(losing.id, { permissions: ['services.read'] })
  const changedAt = Date.now()
  expect(await end).toMatchObject({ code: POLICY_VIOLATION })
  expect(Date.now() - changedAt).toBeLessThan(5000)
  expect(kept.readyState).toBe(WebSocket.OPEN)
  kept.close()
})
