import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { putIdentity } from '../../server/identity/oauth/identity-store.ts'
import type { PasswordResetLink } from '../../shared/account.ts'
import { type DeviceGrant, type DeviceTokens, deviceGrantType } from '../../shared/device.ts'
import type { TeamInviteCreated } from '../../shared/team.ts'
import { expectError } from '../conformance/expect-error.ts'
import { addPerson, beginSession } from '../support/access.ts'
import { call } from '../support/client.ts'
import { addMember, defaultWorkspaceId, makeKey, memberPassword, registerTenant } from '../support/members.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { fromPage } from '../support/two-factor.ts'

const newPassword = 'a third horse battery'
let server: TestServer
let workspaceId: string
let now = Date.now()
beforeAll(async () => {
  server = await startTestServer({ env: { CP_LOGIN_LIMIT: '1000', CP_REGISTRATION: 'open' }, parts: { now: () => now } })
  workspaceId = await defaultWorkspaceId(server)
})
afterAll(() => server.close())

async function approvedDevice(cookie: string): Promise<DeviceGrant> {
  const { body: grant } = await call<DeviceGrant>(`${server.url}/v1/device-grant`, { json: {} })
  const answered = await fromPage(server, '/device-requests', cookie, { json: { code: grant.user_code, approve: true } })
  expect(answered.status).toBe(200)
  return grant
}
const redeem = ({ device_code }: DeviceGrant) =>
  call<DeviceTokens>(`${server.url}/v1/device-token`, { json: { grant_type: deviceGrantType, device_code } })

describe('S13: a stolen session', () => {
  test('of an account without a password is made no younger by letting a device in', async () => {
    const cookie = beginSession(server, addPerson({ server, workspaceId }, 'developer'))
    now += 11 * 60_000
    const json = { currentPassword: 'none', newPassword }
    expectError(await fromPage(server, '/auth/password', cookie, { json }), 'forbidden')
    const { access_token: token } = (await redeem(await approvedDevice(cookie))).body
    expect((await call(`${server.url}/v1/auth/me`, { token })).status).toBe(200)
    expectError(await call(`${server.url}/v1/auth/password`, { json, token }), 'forbidden')
    expectError(await call(`${server.url}/v1/auth/two-factor`, { json: {}, token }), 'forbidden')
  })

  test('leaves no device behind that comes for its token after all others have ended', async () => {
    const { cookie } = await addMember(server, workspaceId, 'viewer')
    const grant = await approvedDevice(cookie)
    expect((await fromPage(server, '/sessions', cookie, { method: 'DELETE' })).status).toBe(204)
    expect((await redeem(grant)).status).toBe(400)
  })
})

describe('S6: an administrator who was shown a link to set the password of a member', () => {
  const linkFor = async (memberId: string) => {
    const { secret } = await makeKey(server, 'admin')
    const path = `/v1/team-members/${memberId}/password-reset`
    const { body } = await call<PasswordResetLink>(`${server.url}${path}`, { method: 'POST', token: secret })
    return new URL(body.url ?? '').searchParams.get('token') ?? ''
  }
  const confirm = (token: string) => call(`${server.url}/v1/auth/password-reset/confirm`, { json: { token, password: newPassword } })

  test('cannot use it once the account is in another workspace as well', async () => {
    const { userId, email, cookie } = await addMember(server, workspaceId, 'viewer')
    const token = await linkFor(userId)
    const other = await registerTenant(server, 'other@example.com')
    const { body } = await call<TeamInviteCreated>(`${server.url}/v1/team-invites`, { json: { email, role: 'admin' }, token: other.token })
    expect((await fromPage(server, '/team-invites/accept', cookie, { json: { token: body.token } })).status).toBe(200)
    expectError(await confirm(token), 'not_found')
    expect((await call(`${server.url}/v1/auth/login`, { json: { email, password: memberPassword } })).status).toBe(200)
  })

  test('who uses it leaves no account that its owner goes on with through a provider without noticing', async () => {
    const { userId } = await addMember(server, workspaceId, 'viewer')
    const at = { issuer: 'https://accounts.google.com', subject: userId, provider: 'google' as const }
    putIdentity(server.db, { ...at, userId, email: null, createdAt: now })
    server.db.query('UPDATE users SET email_proven_at = 1 WHERE id = ?').run(userId)
    expect((await confirm(await linkFor(userId))).status).toBe(204)
    expect(server.db.query('SELECT * FROM identities WHERE user_id = ?').all(userId)).toEqual([])
    expect(server.db.query('SELECT email_proven_at AS at FROM users WHERE id = ?').get(userId)).toEqual({ at: null })
  })
})
