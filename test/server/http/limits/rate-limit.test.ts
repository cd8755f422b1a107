import { expect, test } from 'vitest'
import { createAddressReader } from '../../../../server/http/limits/client-address.ts'
import { createRateLimiter } from '../../../../server/http/limits/rate-limit.ts'
import { trustedProxies } from '../../../../server/platform/network/trusted-proxies.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { call } from '../../../support/client.ts'
import { makeKey } from '../../../support/members.ts'
import { startTestServer } from '../../../support/server.ts'

test('a credential that has used its requests is told when to come back, others go on', async () => {
  const server = await startTestServer({ env: { CP_RATE_LIMIT: '6' } })
  const key = (await makeKey(server, 'admin')).secret
  const me = () => call(`${server.url}/v1/auth/me`, { token: key })
  for (const left of [5, 4, 3, 2, 1, 0]) {
    const { status, headers } = await me()
    expect(status).toBe(200)
    expect(headers.get('ratelimit-limit')).toBe('6')
    expect(headers.get('ratelimit-remaining')).toBe(String(left))
  }
  const refused = await me()
  expectError(refused, 'rate_limited')
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(10)
  expect((await call(`${server.url}/v1/auth/me`, { token: server.adminToken })).status).toBe(200)
  await server.close()
})

test('guessing tokens counts against the address', async () => {
  const server = await startTestServer({ env: { CP_RATE_LIMIT: '5' } })
  for (let n = 0; n < 5; n++) expectError(await call(`${server.url}/v1/auth/me`, { token: `cpk_guess${n}` }), 'unauthorized')
  expectError(await call(`${server.url}/v1/auth/me`, { token: 'cpk_another' }), 'rate_limited')
  expectError(await call(`${server.url}/nowhere`), 'rate_limited')
  await server.close()
})

test('a bucket fills evenly and never beyond its limit', () => {
  let now = 0
  const limiter = createRateLimiter(60, () => now)
  for (let n = 0; n < 60; n++) expect(limiter.take('a').retryAfterSeconds).toBeUndefined()
  expect(limiter.take('a').retryAfterSeconds).toBe(1)
  now = 1000
  expect(limiter.take('a')).toMatchObject({ remaining: 0 })
  expect(limiter.take('a').retryAfterSeconds).toBe(1)
  now = 1e9
  expect(limiter.peek('a')).toEqual({ limit: 60, remaining: 60, resetSeconds: 0 })
})

test('a bucket outlives the change of generations while it is in use', () => {
  let now = 0
  const limiter = createRateLimiter(60, () => now)
  for (let n = 0; n < 60; n++) limiter.take('a')
  for (let minute = 1; minute < 5; minute++) {
    now += 59_500
    for (let n = 0; n < 60; n++) limiter.take('a')
    expect(limiter.take('a').retryAfterSeconds).toBe(1)
  }
})

test('a flood of addresses takes a bounded amount of memory and costs the same to the end', () => {
  const limiter = createRateLimiter(60, () => 0)
  Bun.gc(true)
  const before = process.memoryUsage().heapUsed
  for (let n = 0; n < 500_000; n++) limiter.take(`address:10.${n}`)
  Bun.gc(true)
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(32 * 1024 ** 2)
  expect(limiter.take('address:10.499999').remaining).toBe(58)
})

test('a forwarded address counts only from a trusted proxy, and from the right', () => {
  const forwarded = new Headers({ 'x-forwarded-for': '6.6.6.6, 1.2.3.4, 10.0.0.9' })
  expect(createAddressReader(trustedProxies([]))('10.0.0.1', forwarded)).toBe('10.0.0.1')
  const read = createAddressReader(trustedProxies(['10.0.0.0/8', '::1']))
  expect(read('10.0.0.1', forwarded)).toBe('1.2.3.4')
  expect(read('::ffff:10.0.0.1', forwarded)).toBe('1.2.3.4')
  expect(read('9.9.9.9', forwarded)).toBe('9.9.9.9')
  expect(read('10.0.0.1', new Headers({ 'x-forwarded-for': 'nonsense' }))).toBe('10.0.0.1')
})
