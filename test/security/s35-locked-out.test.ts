import { afterEach, expect, test } from 'vitest'
import { createHashQueue } from '../../server/identity/passwords/hash-queue.ts'
import { loginCountersOf } from '../../server/identity/throttle/login-counters.ts'
import { expectError } from '../conformance/expect-error.ts'
import { call } from '../support/client.ts'
import { startTestServer, type TestServer, testAdmin } from '../support/server.ts'

let server: TestServer
afterEach(() => server?.close())

const login = (password: string, from: string, cookie?: string) =>
  call(`${server.url}/v1/auth/login`, {
    json: { email: testAdmin.email, password },
    headers: { 'x-forwarded-for': from, origin: server.url },
    ...(cookie === undefined ? {} : { cookie }),
  })
const deviceIn = (headers: Headers): string =>
  headers
    .getSetCookie()
    .find((line) => line.startsWith('cpd_device='))
    ?.split(';')[0] ?? ''

test('S35: wrong passwords from elsewhere lock nobody out who knows the right one', async () => {
  server = await startTestServer({ env: { CP_LOGIN_LIMIT: '3', CP_TRUSTED_PROXIES: '127.0.0.1' } })
  for (let n = 0; n < 12; n++) await login('wrong', `203.0.113.${n % 4}`)
  expectError(await login('wrong', '203.0.113.0'), 'rate_limited')
  expect((await login(testAdmin.password, '198.51.100.7')).status).toBe(200)
})

test('S35: a browser that has logged in before is let in from the address of the stranger, and after any number of failures', async () => {
  server = await startTestServer({ env: { CP_LOGIN_LIMIT: '3', CP_TRUSTED_PROXIES: '127.0.0.1' } })
  const device = deviceIn((await login(testAdmin.password, '203.0.113.1')).headers)
  expect(device).not.toBe('')
  for (let n = 0; n < 4; n++) await login('wrong', '203.0.113.1')
  const { all } = loginCountersOf({ email: testAdmin.email, address: '198.51.100.7', device: undefined })
  const [, , account = ''] = all
  expect(() => {
    for (let n = 0; n < 400; n++) server.context.logins.begin([account])
  }).toThrow('Too many failed logins')
  expectError(await login(testAdmin.password, '198.51.100.7'), 'rate_limited')
  expectError(await login(testAdmin.password, '203.0.113.1', 'cpd_device=guessed'), 'rate_limited')
  expect((await login(testAdmin.password, '203.0.113.1', device)).status).toBe(200)
  expect(JSON.stringify(server.db.query('SELECT * FROM known_devices').all())).not.toContain(device.split('=')[1])

  for (let n = 0; n < 3; n++) expectError(await login('wrong', '192.0.2.1', device), 'unauthorized')
  expectError(await login(testAdmin.password, '192.0.2.1', device), 'rate_limited')
})

test('S35: strangers who log in in masses leave places to those who are known, whose turn comes first', async () => {
  const inTurn = createHashQueue({ running: 1, waiting: 4 })
  const first = Promise.withResolvers<string>()
  const order: string[] = []
  const note = (name: string) => async () => void order.push(name)
  const busy = inTurn(() => first.promise)
  const strangers = ['s1', 's2', 's3'].map((name) => inTurn(note(name)))
  await expect(inTurn(note('s4'))).rejects.toThrow('Too many people')
  const known = inTurn(note('known'), 'known')
  await expect(inTurn(note('k2'), 'known')).rejects.toThrow('Too many people')
  first.resolve('')
  await Promise.all([busy, known, ...strangers])
  expect(order).toEqual(['known', 's1', 's2', 's3'])
})
