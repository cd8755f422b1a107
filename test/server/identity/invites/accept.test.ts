import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { expectError } from '../../../conformance/expect-error.ts'
import { createService } from '../../../support/apps.ts'
import { call, cookieOf } from '../../../support/client.ts'
import { addMember, defaultWorkspaceId, makeKey, memberPassword, registerTenant } from '../../../support/members.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'
import { enableTwoFactor, nextTotp } from '../../../support/two-factor.ts'
import { acceptAsNew, invite, send } from '../team/team.ts'

let server: TestServer
let workspaceId: string
let admin: { token: string }
let now: number
const DAY_MS = 24 * 3600 * 1000

beforeEach(async () => {
  now = Date.now()
  server = await startTestServer({ parts: { now: () => now } })
  workspaceId = await defaultWorkspaceId(server)
  admin = { token: server.adminToken }
})
afterEach(() => server.close())

const accept = (by: { cookie: string }, json: Record<string, unknown>) => send(server, '/team-invites/accept', by, { json })
const invites = async () => (await send<unknown[]>(server, '/team-invites', admin)).body
const roleOf = async (cookie: string) =>
  (await send<{ role: string }>(server, '/auth/me', { cookie }, { headers: { 'x-workspace-id': workspaceId } })).body.role

test('somebody new gets an account, a session and their place', async () => {
  const serviceId = await createService(server, { name: 'one' })
  await createService(server, { name: 'other' })
  const { token } = await invite(server, { email: 'ada@example.com', role: 'developer', scope: { serviceIds: [serviceId] } })
  const reply = await acceptAsNew(server, token)
  expect(reply).toMatchObject({ status: 200, body: { user: { email: 'ada@example.com', name: 'Ada' }, workspace: { id: workspaceId } } })
  const cookie = cookieOf(reply)
  expect(await roleOf(cookie)).toBe('developer')
  expect((await send<unknown[]>(server, '/services', { cookie })).body).toHaveLength(1)
  expect(await invites()).toEqual([])
  expect((await call(`${server.url}/v1/auth/login`, { json: { email: 'ada@example.com', password: memberPassword } })).status).toBe(200)
})

test('a user of another workspace accepts with their session, and is in both', async () => {
  const tenant = await registerTenant(server, 'tenant@example.com')
  const { token } = await invite(server, { email: 'TENANT@example.com', role: 'viewer' })
  const reply = await accept(tenant, { token })
  expect(reply).toMatchObject({ status: 200, body: { user: { id: tenant.userId }, workspace: { id: workspaceId } } })
  expect(cookieOf(reply)).toBe(tenant.cookie)
  const owners = await send<{ owner: { id: string } }[]>(server, '/owners', { cookie: tenant.cookie })
  expect(owners.body.map(({ owner }) => owner.id).sort()).toEqual([workspaceId, tenant.workspaceId].sort())
  expect(await roleOf(tenant.cookie)).toBe('viewer')
})

test('the invite of somebody else is refused, and stays good', async () => {
  const eve = await registerTenant(server, 'eve@example.com')
  const { token } = await invite(server, { email: 'ada@example.com', role: 'admin' })
  const body = expectError(await accept(eve, { token }), 'forbidden')
  expect(body.message).toContain('ada@example.com')
  expect((await acceptAsNew(server, token)).status).toBe(200)
})

test('letters that only look like those of the address do not count as them', async () => {
  const kelvin = await registerTenant(server, 'ma\u212a@example.com')
  const { token } = await invite(server, { email: 'mak@example.com', role: 'admin' })
  expectError(await accept(kelvin, { token }), 'forbidden')
})

test('keys and the static token accept nothing', async () => {
  const { token } = await invite(server, { email: 'ada@example.com', role: 'viewer' })
  for (const by of [admin, { token: (await makeKey(server, 'viewer')).secret }])
    expectError(await send(server, '/team-invites/accept', by, { json: { token, name: 'Ada', password: memberPassword } }), 'forbidden')
})

test('an account that can log in is asked to do so', async () => {
  const tenant = await registerTenant(server, 'tenant@example.com')
  const { token } = await invite(server, { email: tenant.email, role: 'viewer' })
  for (const password of [memberPassword, 'a wrong password'])
    expect(expectError(await acceptAsNew(server, token, { password }), 'conflict').message).toContain('Log in first')
  expect((await accept(tenant, { token })).status).toBe(200)
})

test('a session of another site is refused', async () => {
  const tenant = await registerTenant(server, 'tenant@example.com')
  const { token } = await invite(server, { email: tenant.email, role: 'viewer' })
  const headers = { origin: 'https://evil.example.com' }
  expectError(await call(`${server.url}/v1/team-invites/accept`, { json: { token }, cookie: tenant.cookie, headers }), 'forbidden')
})

test('a cookie that is over counts as none', async () => {
  const { token } = await invite(server, { email: 'ada@example.com', role: 'viewer' })
  const json = { token, name: 'Ada', password: memberPassword }
  expect((await accept({ cookie: 'cpd_session=long-over' }, json)).status).toBe(200)
})

test('what is given beside the token is checked', async () => {
  const tenant = await registerTenant(server, 'tenant@example.com')
  const { token } = await invite(server, { email: tenant.email, role: 'viewer' })
  expectError(await accept(tenant, { token, password: memberPassword }), 'validation_failed')
  const other = await invite(server, { email: 'ada@example.com', role: 'viewer' })
  expectError(await call(`${server.url}/v1/team-invites/accept`, { json: { token: other.token } }), 'validation_failed')
  expectError(await acceptAsNew(server, other.token, { password: 'short' }), 'validation_failed')
  expectError(await acceptAsNew(server, other.token, { name: 'A\u202eda' }), 'validation_failed')
  expectError(await acceptAsNew(server, other.token, { role: 'admin' }), 'validation_failed')
})

test('it is accepted once, also by two clients at once', async () => {
  const first = await invite(server, { email: 'ada@example.com', role: 'viewer' })
  const replies = await Promise.all([1, 2, 3].map((n) => acceptAsNew(server, first.token, { name: `Ada ${n}` })))
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 404, 404])
  expectError(await acceptAsNew(server, first.token), 'not_found')
  const tenant = await registerTenant(server, 'tenant@example.com')
  const second = await invite(server, { email: tenant.email, role: 'viewer' })
  const both = await Promise.all([accept(tenant, { token: second.token }), accept(tenant, { token: second.token })])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 404])
  const members = await send<unknown[]>(server, '/team-members', admin)
  expect(members.body).toHaveLength(3)
})

test('after seven days it has expired', async () => {
  const { token } = await invite(server, { email: 'ada@example.com', role: 'viewer' })
  now += 7 * DAY_MS - 1000
  const other = await registerTenant(server, 'x@example.com')
  expectError(await accept(other, { token }), 'forbidden')
  now += 1000
  expect(expectError(await acceptAsNew(server, token), 'conflict').message).toContain('expired')
})

describe('the right of the inviter is looked at again', () => {
  const outcome = async (token: string) => {
    const reply = await acceptAsNew(server, token)
    return { status: reply.status, invites: (await invites()).length }
  }
  const gone = { status: 409, invites: 0 }

  test('an inviter who was demoted, removed or confined', async () => {
    for (const [index, end] of ['demoted', 'removed', 'confined'].entries()) {
      const inviter = await addMember(server, workspaceId, 'admin')
      const { token } = await invite(server, { email: `invited${index}@example.com`, role: 'viewer' }, inviter)
      if (end === 'demoted') await send(server, `/team-members/${inviter.userId}`, admin, { method: 'PATCH', json: { role: 'developer' } })
      if (end === 'confined') {
        const scope = { serviceIds: [await createService(server, { name: 'one' })] }
        await send(server, `/team-members/${inviter.userId}`, admin, { method: 'PATCH', json: { scope } })
      }
      // Straight in the database: by the API their invites go with them.
      if (end === 'removed') server.db.query('DELETE FROM members WHERE user_id = ?').run(inviter.userId)
      expect({ end, ...(await outcome(token)) }).toEqual({ end, ...gone })
    }
    expect(server.db.query("SELECT count(*) AS count FROM audit_log WHERE event = 'invite.lapsed'").get()).toEqual({ count: 3 })
  })

  test('a role that has grown beyond the inviter', async () => {
    const role = await send<{ id: string }>(server, '/roles', admin, { json: { name: 'lead', permissions: ['team.manage', 'team.read'] } })
    const small = await send<{ id: string }>(server, '/roles', admin, { json: { name: 'small', permissions: ['team.read'] } })
    const inviter = await addMember(server, workspaceId, 'lead')
    const { token } = await invite(server, { email: 'ada@example.com', role: 'small' }, inviter)
    await send(server, `/roles/${small.body.id}`, admin, { method: 'PATCH', json: { permissions: ['team.read', 'env.read'] } })
    expect(await outcome(token)).toEqual(gone)
    expect(role.status).toBe(201)
  })

  test('a key that was revoked, or has expired', async () => {
    const key = await makeKey(server, 'admin')
    const byKey = await invite(server, { email: 'ada@example.com', role: 'viewer' }, { token: key.secret })
    await send(server, `/api-keys/${key.id}`, admin, { method: 'DELETE' })
    expect(await outcome(byKey.token)).toEqual(gone)
    const expiresAt = new Date(now + DAY_MS).toISOString()
    const brief = await send<{ secret: string }>(server, '/api-keys', admin, {
      json: { name: 'brief', role: 'admin', expires_at: expiresAt },
    })
    const byBrief = await invite(server, { email: 'ada@example.com', role: 'viewer' }, { token: brief.body.secret })
    now += DAY_MS + 1
    expect(await outcome(byBrief.token)).toEqual(gone)
  })

  test('an inviter whose right stands, and the operator', async () => {
    const inviter = await addMember(server, workspaceId, 'admin')
    const { token } = await invite(server, { email: 'ada@example.com', role: 'admin' }, inviter)
    expect(await outcome(token)).toEqual({ status: 200, invites: 0 })
    expect(await outcome((await invite(server, { email: 'eve@example.com', role: 'admin' })).token)).toEqual({ status: 200, invites: 0 })
  })
})

describe('an account that is in no workspace', () => {
  test('accepts with its own password, as it cannot log in', async () => {
    const { email, cookie } = await addMember(server, workspaceId, 'viewer')
    await send(server, '/team-members/leave', { cookie }, { method: 'POST' })
    expectError(await call(`${server.url}/v1/auth/login`, { json: { email, password: memberPassword } }), 'forbidden')
    const { token } = await invite(server, { email, role: 'developer' })
    expectError(await acceptAsNew(server, token, { password: 'a wrong password' }), 'unauthorized')
    const reply = await acceptAsNew(server, token)
    expect(reply.status).toBe(200)
    expect(await roleOf(cookieOf(reply))).toBe('developer')
  })

  test('needs its second factor, too', async () => {
    const { email, cookie } = await addMember(server, workspaceId, 'viewer')
    const { secret } = await enableTwoFactor(server, { cookie, password: memberPassword }, () => now)
    await send(server, '/team-members/leave', { cookie }, { method: 'POST' })
    const { token } = await invite(server, { email, role: 'developer' })
    expectError(await acceptAsNew(server, token), 'unauthorized')
    expect(await invites()).toHaveLength(1)
    expect((await acceptAsNew(server, token, { otp: nextTotp(secret, now) })).status).toBe(200)
  })

  test('accepts with a session that it still has', async () => {
    const { email, cookie } = await addMember(server, workspaceId, 'viewer')
    await send(server, '/team-members/leave', { cookie }, { method: 'POST' })
    const { token } = await invite(server, { email, role: 'developer' })
    expect((await accept({ cookie }, { token })).status).toBe(200)
  })
})

test('guessing tokens is stopped, and what is right costs nothing', async () => {
  const limit = 10
  for (let count = 0; count < 2; count++) {
    const { token } = await invite(server, { email: `a${count}@example.com`, role: 'viewer' })
    expect((await acceptAsNew(server, token)).status).toBe(200)
  }
  for (let count = 0; count < limit; count++) expectError(await acceptAsNew(server, `guess-${count}`), 'not_found')
  const { token } = await invite(server, { email: 'ada@example.com', role: 'viewer' })
  const reply = await acceptAsNew(server, token)
  expectError(reply, 'rate_limited')
  expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
})

test('a token of a megabyte is refused', async () => {
  expectError(await acceptAsNew(server, 'x'.repeat(1024 * 1024)), 'payload_too_large')
  expectError(await acceptAsNew(server, 'x'.repeat(10_000)), 'validation_failed')
})
