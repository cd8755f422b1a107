import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../../../server/boot/settings/config.ts'
import { operationIds, operationOf } from '../../../../shared/operations/all.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { requestOf } from '../../../conformance/requests.ts'
import { call, cookieOf } from '../../../support/client.ts'
import { startTestServer, type TestServer, testAdmin } from '../../../support/server.ts'

const panel = 'https://panel.example.com'
let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ env: { CP_CORS_ORIGINS: `${panel}, http://localhost:3000` } })
})
afterAll(() => server.close())

const preflight = (path: string, origin: string) =>
  call(server.url + path, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'DELETE', 'access-control-request-headers': 'authorization' },
  })
const allowed = (headers: Headers) => headers.get('access-control-allow-origin')

describe('an origin on the list', () => {
  test('is told at every path what it may send', async () => {
    for (const id of operationIds.filter((one) => !operationOf(one).webSocket)) {
      const { status, headers, body } = await preflight(requestOf(id).path, panel)
      expect({ id, status, origin: allowed(headers), body }).toEqual({ id, status: 204, origin: panel, body: undefined })
      expect(headers.get('access-control-allow-methods')?.split(', ')).toContain(operationOf(id).method)
      expect(headers.get('access-control-allow-headers')).toMatch(/^Authorization, Content-Type/)
      expect(headers.get('access-control-max-age')).toBe('600')
      expect(headers.get('vary')).toBe('Origin')
    }
  })

  test('reads answers and errors, and their headers', async () => {
    for (const [path, options] of [
      ['/v1/services', { token: server.adminToken }],
      ['/v1/services', {}],
      ['/nowhere', {}],
      ['/docs/json', {}],
    ] as const) {
      const { headers } = await call(server.url + path, { ...options, headers: { origin: panel } })
      expect(allowed(headers)).toBe(panel)
      expect(headers.get('access-control-expose-headers')).toContain('X-Request-Id')
    }
    const created = await call(`${server.url}/v1/services`, {
      json: { type: 'web_service', name: 'from a panel' },
      token: server.adminToken,
      headers: { origin: 'http://localhost:3000' },
    })
    expect([created.status, allowed(created.headers)]).toEqual([201, 'http://localhost:3000'])
  })

  test('never acts with a cookie', async () => {
    const cookie = cookieOf(await call(`${server.url}/v1/auth/login`, { json: testAdmin }))
    const reply = await call(`${server.url}/v1/services`, {
      json: { type: 'web_service', name: 'with a cookie' },
      cookie,
      headers: { origin: panel },
    })
    expectError(reply, 'forbidden')
    for (const path of ['/v1/services', '/v1/auth/login']) {
      const { headers } = await preflight(path, panel)
      expect(headers.get('access-control-allow-credentials')).toBeNull()
    }
    expect(
      (await call(`${server.url}/v1/auth/me`, { cookie, headers: { origin: panel } })).headers.get('access-control-allow-credentials'),
    ).toBeNull()
    expectError(await call(`${server.url}/v1/auth/login`, { json: testAdmin, headers: { origin: panel } }), 'forbidden')
  })
})

describe('any other origin', () => {
  test.each(['https://evil.example', 'null', 'https://panel.example.com.evil.example', 'http://panel.example.com', `${panel}:444`])(
    '%s is let read nothing',
    async (origin) => {
      expectError(await preflight('/v1/services', origin), 'forbidden')
      const reply = await call(`${server.url}/v1/services`, { token: server.adminToken, headers: { origin } })
      expect(reply.status).toBe(200)
      expect([...reply.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
      expect(reply.headers.get('vary')).toBe('Origin')
    },
  )
})

test.each(['*', 'panel.example.com', 'https://panel.example.com/', 'https://panel.example.com/app', 'https://PANEL.example.com', 'null'])(
  'CP_CORS_ORIGINS=%s stops the start',
  (value) => {
    expect(() => readConfig({ CP_CORS_ORIGINS: value }, {}, false)).toThrow(/^CP_CORS_ORIGINS: .* is not an origin; name each/)
  },
)
