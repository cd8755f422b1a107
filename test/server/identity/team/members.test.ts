import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { expectError } from '../../../conformance/expect-error.ts'
import { createService } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { addMember, defaultWorkspaceId, makeKey, registerTenant } from '../../../support/members.ts'
import { startTestServer, type TestServer, testAdmin } from '../../../support/server.ts'
import { closed, openSocket } from '../../../support/socket.ts'
import { invite, send } from './team.ts'

let server: TestServer
let workspaceId: string
let admin: { token: string }

beforeEach(async () => {
  server = await startTestServer()
  workspaceId = await defaultWorkspaceId(server)
  admin = { token: server.adminToken }
})
afterEach(() => server.close())

interface Listed {
  teamMember: { id: string; email: string; role: string; scope: unknown; lastSeenAt?: string; twoFactorEnabled: boolean; status: string }
}
const members = async () => (await send<Listed[]>(server, '/team-members', admin)).body.map(({ teamMember }) => teamMember)
const change = (id: string, json: unknown, by: Parameters<typeof send>[2] = admin) =>
  send(server, `/team-members/${id}`, by, { method: 'PATCH', json })
const remove = (id: string, by: Parameters<typeof send>[2] = admin) => send(server, `/team-members/${id}`, by, { method: 'DELETE' })
const leave = (by: Parameters<typeof send>[2]) => send(server, '/team-members/leave', by, { method: 'POST' })
const seededId = async () => (await members()).find(({ email }) => email === testAdmin.email)?.id ?? ''

test('members are listed with what they may do, and in the form of owners', async () => {
  const { userId, email, cookie } = await addMember(server, workspaceId, 'viewer')
  await call(`${server.url}/v1/auth/me`, { cookie })
  const listed = await members()
  expect(listed.map(({ role }) => role)).toEqual(['viewer', 'admin'])
  expect(listed[0]).toMatchObject({ id: userId, userId, email, scope: null, twoFactorEnabled: false, status: 'active' })
  expect(listed[0]?.lastSeenAt).toBeDefined()
  const bare = await send<unknown[]>(server, `/owners/${workspaceId}/members`, admin)
  expect(bare.body[0]).toEqual({ userId, name: 'viewer', email, status: 'active', role: 'WORKSPACE_VIEWER', mfaEnabled: false })
  const page = await send<{ cursor: string }[]>(server, '/team-members?limit=1', admin)
  const next = await send<Listed[]>(server, `/team-members?limit=1&cursor=${page.body[0]?.cursor}`, admin)
  expect(next.body.map(({ teamMember }) => teamMember.role)).toEqual(['admin'])
})

test('another role or scope counts from the next request on', async () => {
  const serviceId = await createService(server, { name: 'one' })
  await createService(server, { name: 'other' })
  const { userId, cookie } = await addMember(server, workspaceId, 'viewer')
  const create = (name: string) => send(server, '/services', { cookie }, { json: { type: 'web_service', name } })
  expectError(await create('too-early'), 'forbidden')
  expect(await change(userId, { role: 'DEVELOPER' })).toMatchObject({ status: 200, body: { role: 'developer' } })
  expect((await create('made')).status).toBe(201)
  expect(await change(userId, { scope: { serviceIds: [serviceId] } })).toMatchObject({ body: { scope: { serviceIds: [serviceId] } } })
  expectError(await create('outside'), 'forbidden')
  expect((await send<unknown[]>(server, '/services', { cookie })).body).toHaveLength(1)
  expect(await change(userId, { scope: null })).toMatchObject({ body: { scope: null } })
  expect((await send<unknown[]>(server, '/services', { cookie })).body).toHaveLength(3)
})

test('a role that is none, services of others and unknown members are refused', async () => {
  const { userId } = await addMember(server, workspaceId, 'viewer')
  const stranger = await registerTenant(server, 'stranger@example.com')
  const theirs = await call<{ service: { id: string } }>(`${server.url}/v1/services`, {
    json: { type: 'web_service', name: 'theirs' },
    token: stranger.token,
  })
  expectError(await change(userId, { role: 'emperor' }), 'validation_failed')
  expectError(await change(userId, { scope: { serviceIds: [theirs.body.service.id] } }), 'not_found')
  expectError(await change(userId, { scope: { serviceIds: [] } }), 'validation_failed')
  expectError(await change(userId, { rank: 1 }), 'validation_failed')
  expectError(await change(stranger.userId, { role: 'viewer' }), 'not_found')
  expectError(await remove(stranger.userId), 'not_found')
  expectError(await change(userId, { role: 'admin' }, { token: stranger.token }), 'not_found')
})

test('nobody changes, removes or makes somebody who may do more than they', async () => {
  await send(server, '/roles', admin, { json: { name: 'lead', permissions: ['team.manage', 'team.read', 'services.read', 'roles.read'] } })
  const lead = await addMember(server, workspaceId, 'lead')
  const developer = await addMember(server, workspaceId, 'developer')
  const billing = await addMember(server, workspaceId, 'lead')
  for (const reply of [
    await change(developer.userId, { role: 'lead' }, lead),
    await change(lead.userId, { role: 'admin' }, lead),
    await change(billing.userId, { role: 'developer' }, lead),
    await remove(developer.userId, lead),
    await remove(await seededId(), lead),
  ])
    expectError(reply, 'forbidden')
  expect((await members()).map(({ role }) => role).sort()).toEqual(['admin', 'developer', 'lead', 'lead'])
  expect((await remove(billing.userId, lead)).status).toBe(204)
})

test('a scoped manager of the team manages nobody', async () => {
  const serviceId = await createService(server, { name: 'one' })
  const { userId, cookie } = await addMember(server, workspaceId, 'admin')
  await change(userId, { scope: { serviceIds: [serviceId] } })
  expectError(await change(userId, { scope: null }, { cookie }), 'forbidden')
  expectError(await remove(await seededId(), { cookie }), 'forbidden')
})

test('the last administrator is neither demoted, scoped nor removed, and cannot leave', async () => {
  const serviceId = await createService(server, { name: 'one' })
  const id = await seededId()
  const scope = { serviceIds: [serviceId] }
  const { cookie, userId } = await addMember(server, workspaceId, 'admin')
  expect((await change(userId, { scope })).status).toBe(200)
  for (const reply of [await change(id, { role: 'viewer' }), await change(id, { scope }), await remove(id)]) expectError(reply, 'conflict')
  await change(userId, { scope: null })
  expect((await remove(id, { cookie })).status).toBe(204)
  expectError(await leave({ cookie }), 'conflict')
  expect((await members()).map(({ id: left }) => left)).toEqual([userId])
})

test('of two administrators who demote each other at once, one stays', async () => {
  for (let round = 0; round < 10; round++) {
    const left = await addMember(server, workspaceId, 'admin')
    const right = await addMember(server, workspaceId, 'admin')
    for (const { id, role } of await members())
      if (role === 'admin' && id !== left.userId && id !== right.userId) await change(id, { role: 'viewer' })
    const replies = await Promise.all([
      change(left.userId, { role: 'viewer' }, right),
      change(right.userId, { role: 'viewer' }, left),
      remove(left.userId, right),
      leave(right),
    ])
    expect(replies.some(({ status }) => status >= 400)).toBe(true)
    expect((await members()).filter(({ role }) => role === 'admin').length).toBeGreaterThan(0)
  }
})

test('who is removed is out: their sessions, sockets, keys, the keys of these keys, and invites', async () => {
  const member = await addMember(server, workspaceId, 'admin')
  const other = await addMember(server, workspaceId, 'admin')
  const mine = await send<{ id: string; secret: string }>(server, '/api-keys', member, { json: { name: 'mine', role: 'admin' } })
  const child = await makeKey(server, 'admin', mine.body.secret)
  const theirs = await send<{ id: string; secret: string }>(server, '/api-keys', other, { json: { name: 'theirs', role: 'viewer' } })
  await invite(server, { email: 'a@example.com', role: 'viewer' }, member)
  await invite(server, { email: 'b@example.com', role: 'viewer' }, { token: child.secret })
  await invite(server, { email: 'c@example.com', role: 'viewer' }, other)
  const socket = await openSocket(`${server.url}/v1/logs/subscribe`, { cookie: member.cookie, origin: server.url })
  const end = closed(socket)
  expect((await remove(member.userId)).status).toBe(204)
  const removedAt = Date.now()
  expectError(await call(`${server.url}/v1/auth/me`, { cookie: member.cookie }), 'unauthorized')
  for (const { secret } of [mine.body, child]) expectError(await call(`${server.url}/v1/auth/me`, { token: secret }), 'unauthorized')
  expect((await call(`${server.url}/v1/auth/me`, { token: theirs.body.secret })).status).toBe(200)
  const left = await send<{ teamInvite: { email: string } }[]>(server, '/team-invites', admin)
  expect(left.body.map(({ teamInvite }) => teamInvite.email)).toEqual(['c@example.com'])
  await end
  expect(Date.now() - removedAt).toBeLessThan(5000)
  const entry = server.db
    .query<{ target: string; metadata: string }, []>("SELECT target, metadata FROM audit_log WHERE event = 'member.removed'")
    .get()
  expect(entry?.target).toBe(member.userId)
  expect(JSON.parse(entry?.metadata ?? '{}')).toMatchObject({
    removed: { email: member.email, role: 'admin' },
    revokedKeys: [
      { id: child.id, name: 'admin key' },
      { id: mine.body.id, name: 'mine' },
    ],
    withdrawnInvites: expect.arrayContaining([expect.objectContaining({ email: 'a@example.com' })]),
  })
})

test('who leaves takes their keys along and stays signed in to their other workspaces', async () => {
  const tenant = await registerTenant(server, 'tenant@example.com')
  const { token } = await invite(server, { email: tenant.email, role: 'developer' })
  await send(server, '/team-invites/accept', tenant, { json: { token } })
  const here = { 'x-workspace-id': workspaceId }
  expect((await send(server, '/services', tenant, { headers: here })).status).toBe(200)
  expect((await send(server, '/team-members/leave', { cookie: tenant.cookie }, { method: 'POST', headers: here })).status).toBe(204)
  expectError(await send(server, '/services', { cookie: tenant.cookie }, { headers: here }), 'not_found')
  expect((await send(server, '/services', { cookie: tenant.cookie })).status).toBe(200)
  expectError(await leave({ token: tenant.token }), 'forbidden')
  expectError(await leave(admin), 'forbidden')
})

describe('keys that go beyond what their maker may still do', () => {
  const makeBy = async (cookie: string, json: object) =>
    (await send<{ id: string; secret: string }>(server, '/api-keys', { cookie }, { json })).body
  const works = async ({ secret }: { secret: string }) => (await send(server, '/auth/me', { token: secret })).status === 200

  test('are revoked when the maker is given a smaller role, and told in the log', async () => {
    const { userId, cookie } = await addMember(server, workspaceId, 'admin')
    const [small, large] = [await makeBy(cookie, { name: 'small', role: 'viewer' }), await makeBy(cookie, { name: 'large', role: 'admin' })]
    expect((await change(userId, { role: 'developer' })).status).toBe(200)
    expect([await works(small), await works(large)]).toEqual([true, false])
    const entries = await send<{ auditLog: { metadata: object } }[]>(server, '/audit-logs?event=member.updated', admin)
    expect(entries.body[0]?.auditLog.metadata).toMatchObject({ revokedKeys: [{ id: large.id, name: 'large' }] })
  })

  test('are revoked when the maker is confined to some services', async () => {
    const [inside, outside] = [await createService(server, { name: 'one' }), await createService(server, { name: 'other' })]
    const { userId, cookie } = await addMember(server, workspaceId, 'admin')
    const keyOf = (serviceId: string) => makeBy(cookie, { name: serviceId, role: 'viewer', scope: { serviceIds: [serviceId] } })
    const [kept, lost, whole] = [await keyOf(inside), await keyOf(outside), await makeBy(cookie, { name: 'whole', role: 'viewer' })]
    await change(userId, { scope: { serviceIds: [inside] } })
    expect([await works(kept), await works(lost), await works(whole)]).toEqual([true, false, false])
  })

  test('are revoked when the role of the maker shrinks', async () => {
    const role = await send<{ id: string }>(server, '/roles', admin, {
      json: {
        name: 'ops',
        permissions: [
          'apikeys.manage',
          'services.read',
          'logs.read',
          'deploys.read',
          'metrics.read',
          'workspace.read',
          'roles.read',
          'team.read',
        ],
      },
    })
    const { cookie } = await addMember(server, workspaceId, 'ops')
    const [viewer, ops] = [await makeBy(cookie, { name: 'viewer', role: 'viewer' }), await makeBy(cookie, { name: 'ops', role: 'ops' })]
    await send(server, `/roles/${role.body.id}`, admin, { method: 'PATCH', json: { permissions: ['apikeys.manage', 'services.read'] } })
    expect([await works(viewer), await works(ops)]).toEqual([false, true])
  })

  test('are revoked when the role of the key grows beyond its maker', async () => {
    const held = ['apikeys.manage', 'services.read'] as const
    await send(server, '/roles', admin, { json: { name: 'key maker', permissions: held } })
    const pipeline = await send<{ id: string }>(server, '/roles', admin, { json: { name: 'pipeline', permissions: ['services.read'] } })
    const { cookie } = await addMember(server, workspaceId, 'key maker')
    const [other, grown] = [await makeBy(cookie, { name: 'o', role: 'key maker' }), await makeBy(cookie, { name: 'p', role: 'pipeline' })]
    const operators = (await send<{ id: string; secret: string }>(server, '/api-keys', admin, { json: { name: 'op', role: 'pipeline' } }))
      .body
    const permissions = ['services.read', 'team.manage']
    const changed = await send(server, `/roles/${pipeline.body.id}`, admin, { method: 'PATCH', json: { permissions } })
    expect(changed.status).toBe(200)
    expect([await works(other), await works(grown), await works(operators)]).toEqual([true, false, true])
  })
})
