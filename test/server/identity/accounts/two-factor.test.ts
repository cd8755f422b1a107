import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TwoFactorState } from '../../../../shared/account.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { call } from '../../../support/client.ts'
import { addMember, defaultWorkspaceId, makeKey, memberPassword, registerTenant } from '../../../support/members.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'
import { enableTwoFactor, fromPage, totpAt } from '../../../support/two-factor.ts'

const STEP_MS = 30_000
let server: TestServer
let workspaceId: string
let now = Date.now()
beforeAll(async () => {
  server = await startTestServer({
    parts: { now: () => now },
    env: { CP_LOGIN_LIMIT: '4', CP_TRUSTED_PROXIES: '127.0.0.1', CP_REGISTRATION: 'open' },
  })
  workspaceId = await defaultWorkspaceId(server)
})
afterAll(() => server.close())

let addresses = 0
const fresh = () => ({ 'x-forwarded-for': `198.51.100.${++addresses}` })

async function enabledMember() {
  const member = await addMember(server, workspaceId, 'developer')
  const factor = await enableTwoFactor(server, { ...member, password: memberPassword }, () => now)
  now += 2 * STEP_MS
  return { ...member, ...factor }
}

const login = (email: string, otp?: string, headers = fresh(), password = memberPassword) =>
  call(`${server.url}/v1/auth/login`, { json: { email, password, ...(otp === undefined ? {} : { otp }) }, headers })
const stateOf = async (cookie: string) => (await fromPage<TwoFactorState>(server, '/auth/two-factor', cookie)).body

describe('setting up', () => {
  test('wants the password, and nothing changes before a code is confirmed', async () => {
    const { email, cookie } = await addMember(server, workspaceId, 'developer')
    expectError(await fromPage(server, '/auth/two-factor', cookie, { json: {} }), 'validation_failed')
    expectError(await fromPage(server, '/auth/two-factor', cookie, { json: { password: 'wrong' }, headers: fresh() }), 'validation_failed')
    const begun = await fromPage<{ secret: string; otpauthUrl: string }>(server, '/auth/two-factor', cookie, {
      json: { password: memberPassword },
    })
    expect(begun.body.otpauthUrl).toContain(begun.body.secret)
    expect((await login(email)).status).toBe(200)
    expect(await stateOf(cookie)).toEqual({ enabled: false, recoveryCodesLeft: 0, requiredBy: [] })
    const wrong = await fromPage(server, '/auth/two-factor/confirm', cookie, { json: { code: '000000' }, headers: fresh() })
    expect(expectError(wrong, 'validation_failed').details?.[0]?.path).toBe('/code')
    expect((await login(email)).status).toBe(200)
  })

  test('gives ten recovery codes once, and none is in the database in clear, nor is the secret', async () => {
    const { cookie, secret, recoveryCodes } = await enabledMember()
    expect(recoveryCodes).toHaveLength(10)
    expect(await stateOf(cookie)).toMatchObject({ enabled: true, recoveryCodesLeft: 10, enabledAt: expect.stringMatching(/Z$/) })
    server.db.run('PRAGMA wal_checkpoint(TRUNCATE)')
    const stored = Buffer.from(await Bun.file(server.context.paths.controlDb).arrayBuffer()).toString('latin1')
    for (const text of [secret, ...recoveryCodes, ...recoveryCodes.map((code) => code.replaceAll('-', ''))])
      expect(stored).not.toContain(text)
  })

  test('needs a beginning, and does not begin anew while it is on', async () => {
    const { cookie } = await addMember(server, workspaceId, 'developer')
    expectError(await fromPage(server, '/auth/two-factor/confirm', cookie, { json: { code: '123456' } }), 'conflict')
    const enabled = await enabledMember()
    expectError(await fromPage(server, '/auth/two-factor', enabled.cookie, { json: { password: memberPassword } }), 'conflict')
    expectError(await fromPage(server, '/auth/two-factor/confirm', enabled.cookie, { json: { code: '123456' } }), 'conflict')
  })

  test('is for people', async () => {
    const { secret } = await makeKey(server, 'admin')
    expectError(await call(`${server.url}/v1/auth/two-factor`, { token: secret }), 'forbidden')
    expectError(await call(`${server.url}/v1/auth/two-factor`, { token: server.adminToken }), 'forbidden')
  })
})

describe('signing in with a second factor', () => {
  test('asks for a code, which costs no try, and takes the one of the app', async () => {
    const { email, secret } = await enabledMember()
    const headers = fresh()
    for (let n = 0; n < 10; n++) {
      const body = expectError(await login(email, undefined, headers), 'unauthorized')
      expect(body.details).toEqual([{ path: '/otp', message: 'is wanted' }])
    }
    const code = totpAt(secret, now)
    expect((await login(email, `${code.slice(0, 3)} ${code.slice(3)}`, headers)).status).toBe(200)
  })

  test('takes no code twice, nor an earlier one after a later one', async () => {
    const { email, secret } = await enabledMember()
    const [early, code] = [totpAt(secret, now - STEP_MS), totpAt(secret, now)]
    expect((await login(email, code)).status).toBe(200)
    expectError(await login(email, code), 'unauthorized')
    expectError(await login(email, early), 'unauthorized')
  })

  test('allows for a clock that is half a minute off, and not for one that is two minutes off', async () => {
    const { email, secret } = await enabledMember()
    expect((await login(email, totpAt(secret, now - STEP_MS))).status).toBe(200)
    expect((await login(email, totpAt(secret, now + STEP_MS))).status).toBe(200)
    expectError(await login(email, totpAt(secret, now + 4 * STEP_MS)), 'unauthorized')
    expectError(await login(email, totpAt(secret, now - 4 * STEP_MS)), 'unauthorized')
  })

  test('a code sent many times at once opens one session', async () => {
    const { email, secret } = await enabledMember()
    const code = totpAt(secret, now)
    const replies = await Promise.all(Array.from({ length: 4 }, () => login(email, code)))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('a recovery code is good once, also when it is sent many times at once', async () => {
    const { email, cookie, recoveryCodes } = await enabledMember()
    const [code = ''] = recoveryCodes
    const replies = await Promise.all(Array.from({ length: 4 }, () => login(email, code.toUpperCase())))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await stateOf(cookie)).recoveryCodesLeft).toBe(9)
    expect(server.db.query('SELECT count(*) AS n FROM recovery_codes WHERE code_hash = ?').get(code)).toEqual({ n: 0 })
  })

  test('codes that are guessed count like passwords, from wherever they come, and also at once', async () => {
    const { email, secret } = await enabledMember()
    const replies = await Promise.all(Array.from({ length: 10 }, (_, n) => login(email, String(100_000 + n))))
    expect(replies.map(({ status }) => status).sort()).toEqual([...Array(4).fill(401), ...Array(6).fill(429)])
    expectError(await login(email, totpAt(secret, now)), 'rate_limited')
    now += 16 * 60_000
    expect((await login(email, totpAt(secret, now))).status).toBe(200)
  })

  test('a right password alone forgives no wrong codes', async () => {
    const { email } = await enabledMember()
    for (let n = 0; n < 4; n++) {
      expectError(await login(email, '000000'), 'unauthorized')
      if (n < 3) expectError(await login(email), 'unauthorized')
    }
    expectError(await login(email, '000000'), 'rate_limited')
  })

  test('a wrong password is told nothing of the second factor', async () => {
    const { email, secret } = await enabledMember()
    const body = expectError(await login(email, totpAt(secret, now), fresh(), 'wrong'), 'unauthorized')
    expect(body.details).toBeUndefined()
    expect((await login(email, totpAt(secret, now))).status).toBe(200)
  })
})

describe('taking the second factor away', () => {
  test('wants the password and a code', async () => {
    const { email, cookie, secret, recoveryCodes } = await enabledMember()
    const off = (json: unknown) => fromPage(server, '/auth/two-factor', cookie, { method: 'DELETE', json, headers: fresh() })
    expectError(await off({ password: memberPassword }), 'validation_failed')
    expectError(await off({ otp: totpAt(secret, now) }), 'validation_failed')
    expectError(await off({ password: memberPassword, otp: '000000' }), 'validation_failed')
    expect((await off({ password: memberPassword, otp: recoveryCodes[3] })).status).toBe(204)
    expect(await stateOf(cookie)).toEqual({ enabled: false, recoveryCodesLeft: 0, requiredBy: [] })
    expect((await login(email)).status).toBe(200)
    expectError(await off({ password: memberPassword, otp: '000000' }), 'conflict')
  })

  test('or renewing the recovery codes ends the old ones', async () => {
    const { email, cookie, secret, recoveryCodes } = await enabledMember()
    const renewed = await fromPage<{ recoveryCodes: string[] }>(server, '/auth/two-factor/recovery-codes', cookie, {
      json: { password: memberPassword, otp: totpAt(secret, now) },
    })
    expect(renewed.body.recoveryCodes).toHaveLength(10)
    expectError(await login(email, recoveryCodes[0]), 'unauthorized')
    expect((await login(email, renewed.body.recoveryCodes[0])).status).toBe(200)
  })
})

test('an account without a password shows itself by a sign-in of the last ten minutes', async () => {
  const { userId, email, cookie } = await addMember(server, workspaceId, 'developer')
  server.db.query("UPDATE users SET password_hash = '' WHERE id = ?").run(userId)
  expectError(await login(email, undefined, fresh(), ''), 'unauthorized')
  const begin = () => fromPage(server, '/auth/two-factor', cookie, { json: {}, headers: fresh() })
  expect((await begin()).status).toBe(200)
  now += 11 * 60_000
  expect(expectError(await begin(), 'forbidden').message).toMatch(/sign in anew/)
})

describe('a workspace that requires a second factor', () => {
  test('lets users without do what needs no permission, and set theirs up', async () => {
    const tenant = await registerTenant(server, 'strict@example.com')
    const own = { 'x-workspace-id': tenant.workspaceId }
    const services = () => fromPage(server, '/services', tenant.cookie, { headers: own })
    expect((await services()).status).toBe(200)
    server.db.query('UPDATE workspaces SET requires_two_factor = 1 WHERE id = ?').run(tenant.workspaceId)
    const body = expectError(await services(), 'forbidden')
    expect(body.message).toMatch(/two-factor enable/)
    expect((await fromPage(server, '/auth/me', tenant.cookie)).status).toBe(200)
    expect((await stateOf(tenant.cookie)).requiredBy).toMatchObject([{ id: tenant.workspaceId }])
    expect((await call(`${server.url}/v1/services`, { token: tenant.token })).status).toBe(200)
    await enableTwoFactor(server, { ...tenant, password: memberPassword }, () => now)
    expect((await services()).status).toBe(200)
  })
})
