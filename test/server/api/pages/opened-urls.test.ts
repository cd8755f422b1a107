import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectError } from '../../../conformance/expect-error.ts'
import { call, cookieOf } from '../../../support/client.ts'
import { startTestServer, type TestServer, testAdmin } from '../../../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'sec-fetch-mode': 'navigate' }
const open = (path: string, cookie?: string) =>
  call<string>(server.url + path, { headers: browser, ...(cookie !== undefined && { cookie }) })

test.each([
  ['/v1/services', 401, 'Log in'],
  ['/v1/nowhere', 404, '/docs'],
  ['/nowhere', 404, '/docs'],
  ['/v1/auth/login', 405, 'POST'],
])('a browser that opens %s is shown a page', async (path, status, text) => {
  const reply = await open(path)
  expect(reply.status).toBe(status)
  expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(reply.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  expect(reply.body).toContain('<!doctype html>')
  expect(reply.body).toContain('href="/account"')
  expect(reply.body).toContain(text)
})

test('what stands in the URL is text in the page', async () => {
  const cookie = cookieOf(await call(`${server.url}/v1/auth/login`, { json: testAdmin }))
  const reply = await open(`/v1/services/${encodeURIComponent('<script>alert(1)</script>')}`, cookie)
  expect(reply.status).toBe(404)
  expect(reply.body).toContain('&lt;script&gt;')
  expect(reply.body).not.toContain('<script')
})

test('scripts and programs get JSON all the same', async () => {
  const url = `${server.url}/v1/services`
  expectError(await call(url, { headers: { accept: '*/*' } }), 'unauthorized')
  expectError(await call(url, { headers: { ...browser, 'sec-fetch-mode': 'cors' } }), 'unauthorized')
  expectError(await call(`${url}/srv-00000000000000000000`, { headers: browser, token: server.adminToken }), 'not_found')
  expectError(await call(url, { method: 'POST', headers: browser }), 'unauthorized')
})
