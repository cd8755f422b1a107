import { afterEach, beforeEach, expect, test } from 'vitest'
import { MAX_WORKSPACES_OF_USER } from '../../../../server/identity/memberships/limit.ts'
import { insertWorkspace } from '../../../../server/identity/memberships/store.ts'
import { hasTwoFactor } from '../../../../server/identity/two-factor/store.ts'
import { newId } from '../../../../server/platform/id.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { call, cookieOf } from '../../../support/client.ts'
import { addMember, defaultWorkspaceId, joinWorkspace, makeKey, memberPassword, registerTenant } from '../../../support/members.ts'
import { startTestServer, type TestServer, testAdmin } from '../../../support/server.ts'
import { enableTwoFactor } from '../../../support/two-factor.ts'
import { invite, send } from '../team/team.ts'

let server: TestServer
let workspaceId: string
let admin: { cookie: string }

beforeEach(async () => {
  server = await startTestServer()
  workspaceId = await defaultWorkspaceId(server)
  admin = { cookie: cookieOf(await call(`${server.url}/v1/auth/login`, { json: testAdmin })) }
})
afterEach(() => server.close())

interface Details {
  id: string
  name: string
  requiresTwoFactor: boolean
}
const create = (by: Parameters<typeof send>[2], name = 'Second') => send<Details>(server, '/workspaces', by, { json: { name } })
const patch = (id: string, json: unknown, by: Parameters<typeof send>[2] = admin) =>
  send<Details>(server, `/workspaces/${id}`, by, { method: 'PATCH', json })
const remove = (id: string, confirm: string | undefined, by: Parameters<typeof send>[2] = admin) =>
  send(server, `/workspaces/${id}${confirm === undefined ? '' : `?confirm=${encodeURIComponent(confirm)}`}`, by, { method: 'DELETE' })

test('a user makes a workspace, is its administrator, and chooses it by header or ownerId', async () => {
  const made = await create(admin)
  expect(made).toMatchObject({ status: 201, body: { name: 'Second', email: testAdmin.email, requiresTwoFactor: false } })
  const headers = { 'x-workspace-id': made.body.id }
  const me = await send<{ workspace: unknown; role: string }>(server, '/auth/me', admin, { headers })
  expect(me.body).toMatchObject({ workspace: { id: made.body.id, name: 'Second' }, role: 'admin' })
  await send(server, '/services', admin, { json: { type: 'web_service', name: 'there' }, headers })
  expect((await send<unknown[]>(server, `/services?ownerId=${made.body.id}`, admin)).body).toHaveLength(1)
  expect((await send<unknown[]>(server, '/services', admin)).body).toHaveLength(0)
  const owners = await send<{ owner: { name: string } }[]>(server, '/owners', admin)
  expect(owners.body.map(({ owner }) => owner.name)).toEqual(['Second', 'Default'])
})

test('the static token makes one for the seeded administrator, a key none', async () => {
  const made = await create({ token: server.adminToken }, 'By the operator')
  expect(made.status).toBe(201)
  expect((await send(server, `/workspaces/${made.body.id}`, admin)).status).toBe(200)
  expectError(await send(server, `/workspaces/${made.body.id}`, { token: server.adminToken }), 'not_found')
  const key = await makeKey(server, 'admin')
  expect(expectError(await create({ token: key.secret }), 'forbidden').message).toContain('key')
  expectError(await create(await addMember(server, workspaceId, 'developer')), 'forbidden')
})

test.each(['', 'x'.repeat(101), 'a\nb', 'a\u202eb', 7])('the name %j is refused', async (name) => {
  expectError(await send(server, '/workspaces', admin, { json: { name } }), 'validation_failed')
  expectError(await patch(workspaceId, { name }), 'validation_failed')
})

test('a workspace is renamed by those who manage it', async () => {
  expect(await patch(workspaceId, { name: 'Acme & <b>Co</b>' })).toMatchObject({ status: 200, body: { name: 'Acme & <b>Co</b>' } })
  expect(await send(server, `/workspaces/${workspaceId}`, admin)).toMatchObject({ body: { name: 'Acme & <b>Co</b>' } })
  const developer = await addMember(server, workspaceId, 'developer')
  expectError(await patch(workspaceId, { name: 'Mine' }, developer), 'forbidden')
  expect((await send(server, `/workspaces/${workspaceId}`, developer)).status).toBe(200)
  const stranger = await registerTenant(server, 'stranger@example.com')
  for (const reply of [await patch(workspaceId, { name: 'Mine' }, stranger), await remove(workspaceId, 'Default', stranger)])
    expectError(reply, 'not_found')
})

test('two factors are required by somebody who has them only', async () => {
  expectError(await patch(workspaceId, { requiresTwoFactor: true }), 'conflict')
  await enableTwoFactor(server, { cookie: admin.cookie, password: testAdmin.password })
  expect(await patch(workspaceId, { requiresTwoFactor: true })).toMatchObject({ status: 200, body: { requiresTwoFactor: true } })
  const member = await addMember(server, workspaceId, 'viewer')
  expectError(await send(server, '/services', member), 'forbidden')
  expect(hasTwoFactor(server.db, member.userId)).toBe(false)
  expect((await send(server, '/services', admin)).status).toBe(200)
  expect((await send(server, '/team-members/leave', member, { method: 'POST' })).status).toBe(204)
})

test('a workspace is deleted by its name only, and the one of the first start not at all', async () => {
  const { body } = await create(admin)
  for (const confirm of [undefined, '', 'second', 'Second ', body.id]) expectError(await remove(body.id, confirm), 'validation_failed')
  expectError(await remove(workspaceId, 'Default'), 'conflict')
  const developer = await addMember(server, body.id, 'developer')
  expectError(await remove(body.id, 'Second', developer), 'forbidden')
  expect((await remove(body.id, 'Second')).status).toBe(204)
  expectError(await remove(body.id, 'Second'), 'not_found')
})

test('nobody enters a deleted workspace: no member, key, session or invite', async () => {
  const { body } = await create(admin)
  const headers = { 'x-workspace-id': body.id }
  const key = await send<{ secret: string }>(server, '/api-keys', admin, { json: { name: 'key', role: 'admin' }, headers })
  const invited = await send<{ token: string }>(server, '/team-invites', admin, {
    json: { email: 'ada@example.com', role: 'viewer' },
    headers,
  })
  const alone = await addMember(server, body.id, 'admin')
  await remove(body.id, 'Second')
  expectError(await call(`${server.url}/v1/auth/me`, { token: key.body.secret }), 'unauthorized')
  expectError(await send(server, '/auth/me', admin, { headers }), 'not_found')
  expectError(await send(server, '/auth/me', alone), 'forbidden')
  expectError(await call(`${server.url}/v1/auth/login`, { json: { email: alone.email, password: memberPassword } }), 'forbidden')
  expectError(
    await call(`${server.url}/v1/team-invites/accept`, { json: { token: invited.body.token, name: 'Ada', password: memberPassword } }),
    'not_found',
  )
  expect((await send<unknown[]>(server, '/owners', admin)).body).toHaveLength(1)
  const { token } = await invite(server, { email: alone.email, role: 'viewer' })
  expect((await send(server, '/team-invites/accept', alone, { json: { token } })).status).toBe(200)
})

test('the logs of the workspace and of the operator tell of its deletion', async () => {
  const { body } = await create(admin, 'Doomed')
  await remove(body.id, 'Doomed')
  const told = server.db
    .query<{ workspace_id: string; event: string }, [string]>(
      "SELECT workspace_id, event FROM audit_log WHERE event LIKE 'workspace.%' AND target = ? ORDER BY event, workspace_id",
    )
    .all(body.id)
  expect(told.map(({ event, workspace_id }) => `${event} ${workspace_id === workspaceId ? 'operator' : 'own'}`).sort()).toEqual([
    'workspace.created operator',
    'workspace.created own',
    'workspace.deleted operator',
    'workspace.deleted own',
  ])
})

test('an account is in a hundred workspaces at most, its own and those of others', async () => {
  const tenant = await registerTenant(server, 'collector@example.com')
  for (let count = 1; count < MAX_WORKSPACES_OF_USER; count++) {
    const id = newId('workspace')
    insertWorkspace(server.db, { id, name: 'One more', email: 'others@example.com', createdAt: 0 })
    joinWorkspace(server, { userId: tenant.userId, workspaceId: id, role: 'admin' })
  }
  expectError(await create({ cookie: tenant.cookie }), 'conflict')
  const { token } = await invite(server, { email: tenant.email, role: 'viewer' })
  expectError(await send(server, '/team-invites/accept', { cookie: tenant.cookie }, { json: { token } }), 'conflict')
  expect((await remove(tenant.workspaceId, "collector's workspace", { cookie: tenant.cookie })).status).toBe(204)
  expect((await create({ cookie: tenant.cookie })).status).toBe(201)
})
