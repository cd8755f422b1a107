import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashLimits } from '../../server/identity/passwords/password.ts'
import { signIn } from '../../server/identity/sign-in/sign-in.ts'
import { expectError } from '../conformance/expect-error.ts'
import { call } from '../support/client.ts'
import { addMember, defaultWorkspaceId, memberPassword } from '../support/members.ts'
import { startTestServer, type TestServer, testAdmin } from '../support/server.ts'
import { enableTwoFactor, fromPage, nextTotp, totpAt } from '../support/two-factor.ts'

let server: TestServer
let workspaceId: string
beforeAll(async () => {
  server = await startTestServer({ env: { CP_LOGIN_LIMIT: '3', CP_TRUSTED_PROXIES: '127.0.0.1', CP_REGISTRATION: 'invite' } })
  workspaceId = await defaultWorkspaceId(server)
})
afterAll(() => server.close())

let addresses = 0
const fresh = () => ({ 'x-forwarded-for': `2001:db8:${(++addresses).toString(16)}::1` })
const login = (json: unknown, headers = fresh()) => call(`${server.url}/v1/auth/login`, { json, headers })

async function guarded() {
  const member = await addMember(server, workspaceId, 'developer')
  return { ...member, ...(await enableTwoFactor(server, { ...member, password: memberPassword })) }
}

test('S14: codes are limited for each account, from whatever addresses and however many at once they come', async () => {
  const { email, secret } = await guarded()
  const guess = (otp: string) => login({ email, password: memberPassword, otp })
  const replies = await Promise.all(Array.from({ length: 12 }, (_, n) => guess(String(n).padStart(6, '0'))))
  expect(replies.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(3)
  expectError(await guess(nextTotp(secret)), 'rate_limited')
})

test('S14: a password that was changed while it was looked at does not get as far as the code', async () => {
  const { userId, email } = await guarded()
  const place = { address: '2001:db8:ffff::1', client: '' }
  const attempt = signIn(server.context, { email, password: memberPassword, otp: undefined, place, change: (apply) => apply() })
  server.db.query('UPDATE users SET password_hash = ? WHERE id = ?').run('another', userId)
  await expect(attempt).rejects.toThrow('The e-mail or the password is wrong.')
})

test('S14: recovery codes are limited like codes', async () => {
  const { email } = await guarded()
  for (let n = 0; n < 3; n++) expectError(await login({ email, password: memberPassword, otp: `0000-0000-0000-000${n}` }), 'unauthorized')
  expectError(await login({ email, password: memberPassword, otp: '0000-0000-0000-0009' }), 'rate_limited')
})

test('S14: a session is no way to guess the password or a code without limit', async () => {
  const { cookie } = await guarded()
  const off = (otp: string) =>
    fromPage(server, '/auth/two-factor', cookie, { method: 'DELETE', json: { password: memberPassword, otp }, headers: fresh() })
  for (let n = 0; n < 3; n++) expectError(await off(`00000${n}`), 'validation_failed')
  expectError(await off('000009'), 'rate_limited')
})

test('S14: a code that was seen is worth nothing to who saw it', async () => {
  const { email, secret } = await guarded()
  const code = nextTotp(secret)
  expect((await login({ email, password: memberPassword, otp: code })).status).toBe(200)
  expectError(await login({ email, password: memberPassword, otp: code }), 'unauthorized')
  expectError(await login({ email, password: memberPassword, otp: totpAt(secret, Date.now()) }), 'unauthorized')
})

test('S14: who is signed in stays so while others guess', async () => {
  const { email, cookie } = await guarded()
  for (let n = 0; n < 5; n++) await login({ email, password: 'a guess' })
  expect((await call(`${server.url}/v1/auth/me`, { cookie })).status).toBe(200)
})

test('S14: whether an account exists is told neither by a reset nor by registering where strangers may not', async () => {
  const ask = (email: string) => call(`${server.url}/v1/auth/password-reset`, { json: { email }, headers: fresh() })
  const [known, unknown] = [await ask(testAdmin.email), await ask('nobody@example.com')]
  expect([known.status, known.body]).toEqual([unknown.status, unknown.body])
  const register = (email: string) =>
    call(`${server.url}/v1/auth/register`, { json: { email, password: memberPassword }, headers: fresh() })
  const [taken, free] = [await register('admin@localhost.example'), await register('nobody@example.com')]
  expect(expectError(taken, 'forbidden').message).toBe(expectError(free, 'forbidden').message)
})

test('S14: more logins at once than can wait are turned away at once, and other requests are answered meanwhile', async () => {
  const count = hashLimits.running + hashLimits.waiting + 40
  const flood = Array.from({ length: count }, (_, n) => login({ email: `nobody${n}@example.com`, password: 'a guess' }))
  const { status } = await call(`${server.url}/v1/auth/me`, { token: server.adminToken })
  expect(status).toBe(200)
  const replies = await Promise.all(flood)
  const turnedAway = replies.filter((reply) => reply.status === 503)
  expect(turnedAway.length).toBeGreaterThan(0)
  for (const reply of turnedAway) expect(reply.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(replies.filter((reply) => ![401, 503].includes(reply.status))).toEqual([])
})
