import { expect, test } from 'vitest'
import { isStaleHash, passwordCost, unknownAccountHash } from '../../../../server/identity/passwords/password.ts'
import { loginCountersOf, loginLimits } from '../../../../server/identity/throttle/login-counters.ts'
import { createThrottle, THROTTLE_WINDOW_MS } from '../../../../server/identity/throttle/throttle.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { call } from '../../../support/client.ts'
import { startTestServer, type TestServer, testAdmin } from '../../../support/server.ts'

const login = (server: TestServer, email: string, password: string, from = '203.0.113.1') =>
  call(`${server.url}/v1/auth/login`, { json: { email, password }, headers: { 'x-forwarded-for': from } })

const limited = (limit: number) => startTestServer({ env: { CP_LOGIN_LIMIT: String(limit), CP_TRUSTED_PROXIES: '127.0.0.1' } })

const times = (n: number) => Array.from({ length: n }, (_, index) => index)

test('an address is closed for an account after too many failures, in any spelling, and others are not', async () => {
  const server = await limited(3)
  for (const _ of times(3)) expectError(await login(server, testAdmin.email, 'wrong'), 'unauthorized')
  const refused = await login(server, testAdmin.email.toUpperCase(), testAdmin.password)
  expectError(refused, 'rate_limited')
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(800)
  expect((await login(server, testAdmin.email, testAdmin.password, '203.0.113.2')).status).toBe(200)
  await server.close()
})

test('an address is closed after ten times as many failures on whatever accounts', async () => {
  const server = await limited(1)
  for (const n of times(10)) expectError(await login(server, `nobody${n}@example.com`, 'wrong'), 'unauthorized')
  expectError(await login(server, testAdmin.email, testAdmin.password), 'rate_limited')
  expect((await login(server, testAdmin.email, testAdmin.password, '203.0.113.2')).status).toBe(200)
  await server.close()
})

test('the account alone has a limit for a day, which a known browser is excepted from', () => {
  const limits = loginLimits(10)
  expect(limits('account:a@example.com')).toEqual({ failures: 1000, windowMs: 24 * 3600_000 })
  const known = loginCountersOf({ email: 'a@example.com', address: '203.0.113.1', device: 'hash' })
  expect(known.all).toEqual(['known:hash'])
})

test('a success forgives the account its earlier failures', async () => {
  const server = await limited(3)
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 2; n++) await login(server, testAdmin.email, 'wrong', `203.0.113.${round}`)
    expect((await login(server, testAdmin.email, testAdmin.password, `203.0.113.${round}`)).status).toBe(200)
  }
  await server.close()
})

test('many attempts at once are counted before their outcome is known', async () => {
  const server = await limited(3)
  const replies = await Promise.all(Array.from({ length: 10 }, () => login(server, testAdmin.email, 'wrong')))
  expect(replies.filter(({ status }) => status === 401)).toHaveLength(3)
  expect(replies.filter(({ status }) => status === 429)).toHaveLength(7)
  await server.close()
})

test('an unknown account is answered like a wrong password, after the same work', async () => {
  const server = await limited(100)
  const unknown = expectError(await login(server, 'nobody@example.com', 'wrong'), 'unauthorized')
  const wrong = expectError(await login(server, testAdmin.email, 'wrong'), 'unauthorized')
  expect(unknown.message).toBe(wrong.message)
  expect(isStaleHash(unknownAccountHash)).toBe(false)
  await server.close()
})

test('a password hashed at another cost is hashed anew at the next login', async () => {
  const server = await limited(100)
  const old = await Bun.password.hash(testAdmin.password, { algorithm: 'argon2id', memoryCost: passwordCost.memoryKib / 2, timeCost: 3 })
  server.db.query('UPDATE users SET password_hash = ?').run(old)
  expect((await login(server, testAdmin.email, testAdmin.password)).status).toBe(200)
  const stored = server.db.query<{ password_hash: string }, []>('SELECT password_hash FROM users').get()?.password_hash ?? ''
  expect(stored).not.toBe(old)
  expect(isStaleHash(stored)).toBe(false)
  expect((await login(server, testAdmin.email, testAdmin.password)).status).toBe(200)
  await server.close()
})

test('attempts that were taken back push no failure out of memory', () => {
  const throttle = createThrottle(1, () => 0)
  throttle.begin(['account'])
  for (const n of times(60_000)) {
    throttle.begin([`stranger ${n}`])
    throttle.takeBack(`stranger ${n}`)
  }
  expect(() => throttle.begin(['account'])).toThrow(/Too many/)
})

test('failures are forgotten after their window', () => {
  let now = 0
  const throttle = createThrottle(1, () => now)
  throttle.begin(['a'])
  expect(() => throttle.begin(['a'])).toThrow(/15 minutes/)
  now = THROTTLE_WINDOW_MS
  throttle.begin(['a'])
})
