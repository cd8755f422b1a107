import { expect, test } from 'vitest'
import { expectError } from '../conformance/expect-error.ts'
import { call } from '../support/client.ts'
import { startTestServer, type TestServer, testAdmin } from '../support/server.ts'

const login = (server: TestServer, email: string, headers: Record<string, string> = {}) =>
  call(`${server.url}/v1/auth/login`, { json: { email, password: 'wrong password' }, headers })

const median = (values: number[]): number => values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0

test('S14: the time a refusal takes does not tell whether the account exists', async () => {
  const server = await startTestServer({ env: { CP_LOGIN_LIMIT: '1000' } })
  const times: Record<string, number[]> = { known: [], unknown: [] }
  // Taken in turns, so that whatever else the machine does falls on both.
  for (let round = 0; round < 15; round++) {
    for (const [kind, email] of [
      ['known', testAdmin.email],
      ['unknown', `nobody${round}@example.com`],
    ] as const) {
      const startedAt = performance.now()
      await login(server, email)
      times[kind]?.push(performance.now() - startedAt)
    }
  }
  const ratio = median(times.unknown ?? []) / median(times.known ?? [])
  expect(ratio).toBeGreaterThan(0.5)
  expect(ratio).toBeLessThan(2)
  await server.close()
})

test('S14: forwarded addresses that nobody vouches for do not get around the limit', async () => {
  const server = await startTestServer({ env: { CP_LOGIN_LIMIT: '1' } })
  for (let n = 0; n < 10; n++)
    expectError(await login(server, `nobody${n}@example.com`, { 'x-forwarded-for': `203.0.113.${n}` }), 'unauthorized')
  const headers = { 'x-forwarded-for': '203.0.113.99', 'x-real-ip': '203.0.113.99', forwarded: 'for=203.0.113.99' }
  const refused = await login(server, 'nobody99@example.com', headers)
  expectError(refused, 'rate_limited')
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  await server.close()
})
