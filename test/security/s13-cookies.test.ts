import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operationIds, operationOf } from '../../shared/api.ts'
import { expectError } from '../conformance/expect-error.ts'
import { requestOf } from '../conformance/requests.ts'
import { call, cookieOf } from '../support/client.ts'
import { startTestServer, type TestServer, testAdmin } from '../support/server.ts'

let server: TestServer
let cookie: string
beforeAll(async () => {
  server = await startTestServer({ env: { CP_LOGIN_LIMIT: '1000' } })
  cookie = cookieOf(await call(`${server.url}/v1/auth/login`, { json: testAdmin }))
})
afterAll(() => server.close())

// What a provider's page posts to us is known by its state and by another cookie, see S16.
const changing = operationIds.filter((id) => operationOf(id).method !== 'GET' && !operationOf(id).isCrossSite)

const foreign: Record<string, string>[] = [
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { origin: 'http://localhost:1' },
  { origin: 'https://evil.example', referer: 'http://localhost:8400/' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { referer: 'https://evil.example/http://localhost:8400/' },
]

describe.each(changing)('S13: %s with a cookie', (id) => {
  const send = (headers: Record<string, string>) => {
    const { path, options } = requestOf(id)
    return call(server.url + path, { ...options, cookie, headers: { ...options.headers, ...headers } })
  }

  test("is refused from another site's page", async () => {
    for (const headers of foreign) expectError(await send(headers), 'forbidden')
    // Log-in and log-out without any sign of a browser are for scripts; a cookie that means something needs its page.
    expectError(await send({}), 'forbidden')
  })

  test('is looked at from our own page', async () => {
    // Logging out or in anew would end the session the other tests use.
    if (id === 'logout' || id === 'login') return expect((await call(`${server.url}/v1/auth/me`, { cookie })).status).toBe(200)
    const { status } = await send({ origin: server.url })
    // Public ones look at what the body shows, and a made-up token of a sign-in shows nobody.
    expect([200, 201, 202, 204, 400, 404, 409, 415, ...(operationOf(id).access === 'public' ? [401] : [])]).toContain(status)
  })
})

test('S13: a form of another site can make no browser send what we take', async () => {
  for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x']) {
    const reply = await call(`${server.url}/v1/auth/login`, { raw: JSON.stringify(testAdmin), headers: { 'content-type': type } })
    expectError(reply, 'unsupported_media_type')
  }
})

test('S13: no answer lets another origin read it', async () => {
  const asked = {
    origin: 'https://evil.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization',
  }
  for (const method of ['GET', 'OPTIONS']) {
    const reply = await call(`${server.url}/v1/services`, { method, headers: asked, token: server.adminToken })
    expect([...reply.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
    expect(reply.headers.get('cross-origin-resource-policy')).toBe('same-origin')
  }
})
