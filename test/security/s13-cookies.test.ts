import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operationIds, operationOf } from '../../shared/operations/all.ts'
import { expectError } from '../conformance/expect-error.ts'
import { requestOf } from '../conformance/requests.ts'
import { type SourceHosts, startSourceHosts } from '../conformance/source-hosts.ts'
import { call, cookieOf } from '../support/client.ts'
import { startTestServer, type TestServer, testAdmin } from '../support/server.ts'
import { openSocket, upgradeHeaders } from '../support/socket.ts'

let sourceHosts: SourceHosts
let server: TestServer
let cookie: string
beforeAll(async () => {
  sourceHosts = startSourceHosts()
  server = await startTestServer({ env: { CP_LOGIN_LIMIT: '1000', ...sourceHosts.env } })
  cookie = cookieOf(await call(`${server.url}/v1/auth/login`, { json: testAdmin }))
})
afterAll(async () => {
  await server.close()
  await sourceHosts.close()
})

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

describe('S13: over https', () => {
  let secure: TestServer
  beforeAll(async () => {
    secure = await startTestServer({ env: { CP_PUBLIC_URL: 'https://cp.example.com' } })
  })
  afterAll(() => secure.close())
  const me = (sent: string) => call(`${secure.url}/v1/auth/me`, { cookie: sent }).then(({ status }) => status)

  test('a session counts under the name only that no other host of our domain can give a cookie', async () => {
    const reply = await call(`${secure.url}/v1/auth/login`, { json: testAdmin })
    const own = cookieOf(reply)
    expect(own).toMatch(/^__Host-cpd_session=[\w-]{43}$/)
    expect(reply.headers.get('set-cookie')).toMatch(/; Path=\/;.*; Secure/)
    expect(reply.headers.get('set-cookie')).not.toMatch(/Domain/i)
    const planted = own.replace('__Host-', '')
    expect(await me(own)).toBe(200)
    expect(await me(`a=b; cpd_session=${'x'.repeat(43)}; ${own}`)).toBe(200)
    for (const sent of [planted, `${planted}; a=b`, `\t${planted}`, planted.replace('=', ' ='), own.replace('__Host-', '__host-')])
      expect(await me(sent)).toBe(401)
    const page = await fetch(`${secure.url}/account`, { headers: { cookie: planted }, redirect: 'manual' })
    expect(page.headers.get('location')).toBe('/login?returnTo=%2Faccount')
  })

  test('and opens WebSockets under that name', async () => {
    const own = cookieOf(await call(`${secure.url}/v1/auth/login`, { json: testAdmin }))
    const headers = { cookie: own, origin: 'https://cp.example.com' }
    const socket = await openSocket(`${secure.url}/v1/logs/subscribe`, headers)
    socket.close()
    const planted = { ...upgradeHeaders, ...headers, cookie: own.replace('__Host-', '') }
    expectError(await call(`${secure.url}/v1/logs/subscribe`, { headers: planted }), 'unauthorized')
  })

  test('what a cookie of another host holds ends no session', async () => {
    const own = cookieOf(await call(`${secure.url}/v1/auth/login`, { json: testAdmin }))
    await call(`${secure.url}/v1/auth/logout`, { method: 'POST', cookie: own.replace('__Host-', '') })
    expect(await me(own)).toBe(200)
  })
})
