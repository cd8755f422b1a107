import { afterEach, describe, expect, test } from 'vitest'
import { rateClassOf } from '../../../../server/http/limits/rate-class.ts'
import { type Counted, createRateLimits, type RateSettings } from '../../../../server/http/limits/rate-limits.ts'
import { operationIds, operationOf } from '../../../../shared/operations/all.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { call } from '../../../support/client.ts'
import { makeKey } from '../../../support/members.ts'
import { startTestServer, type TestServer, testAdmin } from '../../../support/server.ts'

const settings: RateSettings = { requests: 100, writes: 5, deploys: 3, signIns: 2 }
const limits = (changes: Partial<RateSettings> = {}) => createRateLimits({ ...settings, ...changes }, () => 0)
const counted = (changes: Partial<Counted>): Counted => ({ class: 'read', credential: undefined, address: () => 'address:a', ...changes })

describe('each kind of operation', () => {
  test('is known from the table', () => {
    const classes = new Map<string, string[]>()
    for (const id of operationIds) classes.set(rateClassOf(operationOf(id)), [...(classes.get(rateClassOf(operationOf(id))) ?? []), id])
    expect(classes.get('sign-in')).toEqual(expect.arrayContaining(['register', 'login', 'createDeviceGrant', 'answerDeviceRequest']))
    expect(classes.get('deploy')).toEqual(expect.arrayContaining(['uploadSource', 'createDeploy', 'rollback']))
    expect(classes.get('read')).toEqual(expect.arrayContaining(['getService', 'openShell', 'health']))
    expect(classes.get('write')).toEqual(expect.arrayContaining(['createService', 'replaceEnvVars', 'revokeApiKey', 'redeemDeviceGrant']))
  })

  test('has its own limit beside that of all requests, and the headers tell the one that has least left', () => {
    const limiter = limits()
    expect(limiter.take(counted({ credential: 'key-1' }))).toMatchObject({ limit: 100, remaining: 99 })
    expect(limiter.take(counted({ credential: 'key-1', class: 'write' }))).toMatchObject({ limit: 5, remaining: 4 })
    expect(limiter.take(counted({ credential: 'key-1', class: 'deploy' }))).toMatchObject({ limit: 3, remaining: 2 })
    expect(limiter.take(counted({ credential: 'key-1' }))).toMatchObject({ limit: 100, remaining: 96 })
  })

  test('is used up apart from the others, and by each credential apart', () => {
    const limiter = limits()
    const write = counted({ credential: 'key-1', class: 'write' })
    for (let n = 0; n < 5; n++) expect(limiter.take(write).retryAfterSeconds).toBeUndefined()
    expect(limiter.take(write)).toMatchObject({ limit: 5, remaining: 0, retryAfterSeconds: 12 })
    expect(limiter.take(counted({ credential: 'key-1' })).retryAfterSeconds).toBeUndefined()
    expect(limiter.take(counted({ credential: 'key-2', class: 'write' })).retryAfterSeconds).toBeUndefined()
  })

  test('has no limit where the limit on all requests is lifted', () => {
    const limiter = limits({ requests: 0 })
    for (let n = 0; n < 50; n++) expect(limiter.take(counted({ class: 'sign-in', isGuess: true })).retryAfterSeconds).toBeUndefined()
  })
})

describe('what takes a secret', () => {
  test('counts against the address whatever credential comes along, and against the credential from wherever it comes', () => {
    const limiter = limits()
    const signIn = (credential: string | undefined, address: string) =>
      limiter.take(counted({ class: 'sign-in', credential, address: () => address })).retryAfterSeconds
    expect([signIn('usr-1', 'a'), signIn('usr-2', 'a')]).toEqual([undefined, undefined])
    expect(signIn('usr-3', 'a')).toBe(30)
    expect([signIn('usr-1', 'b'), signIn('usr-1', 'c')]).toEqual([undefined, 30])
  })

  test('does not wait for those who show credentials that nobody has, and the other way round', () => {
    const limiter = limits()
    const guess = counted({ isGuess: true })
    expect([limiter.take(guess), limiter.take(guess), limiter.take(guess)].map(({ retryAfterSeconds }) => retryAfterSeconds)).toEqual([
      undefined,
      undefined,
      30,
    ])
    expect(limiter.take(counted({ class: 'sign-in' })).retryAfterSeconds).toBeUndefined()
    expect(limiter.take(counted({ credential: 'key-1' })).retryAfterSeconds).toBeUndefined()
  })
})

describe('over HTTP', () => {
  let server: TestServer
  afterEach(() => server.close())

  test('each class answers 429 with the limit that refused and when to come back', async () => {
    server = await startTestServer({
      env: { CP_RATE_LIMIT: '100', CP_WRITE_LIMIT: '3', CP_DEPLOY_LIMIT: '2', CP_SIGN_IN_LIMIT: '2', CP_LOGIN_LIMIT: '1000' },
    })
    const { secret } = await makeKey(server, 'admin')
    const unknown = '/v1/services/srv-00000000000000000000'
    const expectLimit = async (limit: number, send: () => ReturnType<typeof call>) => {
      for (let left = limit - 1; left >= 0; left--) {
        const { status, headers } = await send()
        expect(status).not.toBe(429)
        expect([headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual([String(limit), String(left)])
      }
      const refused = await send()
      expectError(refused, 'rate_limited')
      expect([refused.headers.get('ratelimit-limit'), refused.headers.get('ratelimit-remaining')]).toEqual([String(limit), '0'])
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    await expectLimit(3, () => call(`${server.url}${unknown}`, { method: 'DELETE', token: secret }))
    await expectLimit(2, () => call(`${server.url}${unknown}/deploys`, { method: 'POST', token: secret }))
    await expectLimit(2, () => call(`${server.url}/v1/auth/login`, { json: { ...testAdmin, password: 'wrong password' } }))
    await expectLimit(2, () => call(`${server.url}/v1/auth/me`, { token: 'cpk_nobody' }))
    expect((await call(`${server.url}/v1/auth/me`, { token: secret })).status).toBe(200)
  })
})
