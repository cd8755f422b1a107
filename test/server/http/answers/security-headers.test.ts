import { afterAll, beforeAll, expect, test } from 'vitest'
import { operationIds, operationOf } from '../../../../shared/operations/all.ts'
import { requestOf } from '../../../conformance/requests.ts'
import { type CallOptions, call } from '../../../support/client.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ env: { CP_PUBLIC_URL: 'https://cp.example.com' } })
})
afterAll(() => server.close())

/** Answers of every kind: successes, errors, pages, redirects, files, and what is no path at all. */
const requests: [string, string, CallOptions][] = [
  ...operationIds
    .filter((id) => !operationOf(id).webSocket)
    .flatMap((id): [string, string, CallOptions][] => {
      const { path, options } = requestOf(id)
      return [
        [`${id} without a credential`, path, options],
        [`${id} as a page`, path, { ...options, headers: { ...options.headers, accept: 'text/html' } }],
      ]
    }),
  ...[
    '/',
    '/docs',
    '/docs/json',
    '/docs/start.js',
    '/docs/',
    '/status',
    '/login',
    '/device',
    '/invite',
    '/reset-password',
    '/account',
    '/no/where',
  ].map((path): [string, string, CallOptions] => [`GET ${path}`, path, { headers: { accept: 'text/html' } }]),
  ['HEAD', '/api/health', { method: 'HEAD' }],
  ['OPTIONS', '/v1/services', { method: 'OPTIONS' }],
  ['TRACE-like method', '/v1/services', { method: 'PURGE' }],
  ['a broken path', '/v1/services/%ff', {}],
  ['a broken body', '/v1/auth/login', { raw: '{', headers: { 'content-type': 'application/json' } }],
]

test.each(requests)('%s: the answer carries every header that keeps browsers safe', async (_, path, options) => {
  const { status, headers } = await call(server.url + path, options)
  expect(status).toBeLessThan(500)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('x-frame-options')).toBe('DENY')
  expect(headers.get('referrer-policy')).toMatch(/^(no-referrer|same-origin)$/)
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
  expect(headers.get('strict-transport-security')).toMatch(/^max-age=\d{8,}/)
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).toMatch(/^default-src 'none'/)
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toMatch(/unsafe-eval|script-src[^;]*('unsafe-inline'|https?:|\*)/)
  expect(headers.get('server')).toBeNull()
  expect(headers.get('x-powered-by')).toBeNull()
})

test('over http nothing is said of https', async () => {
  const plain = await startTestServer()
  expect((await call(`${plain.url}/api/health`)).headers.get('strict-transport-security')).toBeNull()
  await plain.close()
})
