import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, cookieOf } from '../../../support/client.ts'
import { startTestServer, type TestServer, testAdmin } from '../../../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

const login = () => call(`${server.url}/v1/auth/login`, { json: testAdmin })

describe('a session', () => {
  test('begins with a login whose cookie scripts cannot read and other sites cannot use', async () => {
    const reply = await login()
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({ user: { email: testAdmin.email }, workspace: { name: 'Default' } })
    const cookie = reply.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/^cpd_session=[A-Za-z0-9_-]{43}; /)
    expect(cookie).toMatch(/HttpOnly/i)
    expect(cookie).toMatch(/SameSite=Lax/i)
    expect(cookie).toMatch(/Path=\//)
    expect(cookie).not.toMatch(/Secure/i)
  })

  test('tells who it is', async () => {
    const cookie = cookieOf(await login())
    const me = await call(`${server.url}/v1/auth/me`, { cookie })
    expect(me.status).toBe(200)
    expect(me.body).toMatchObject({ actor: { type: 'user', email: testAdmin.email }, role: 'admin' })
    expect((await call(`${server.url}/v1/users`, { cookie })).body).toMatchObject({ email: testAdmin.email })
  })

  test('has a new id at each login, and the one shown at the login ends', async () => {
    const first = cookieOf(await login())
    const second = await call(`${server.url}/v1/auth/login`, { json: testAdmin, cookie: first, headers: { origin: server.url } })
    expect(cookieOf(second)).not.toBe(first)
    expect((await call(`${server.url}/v1/auth/me`, { cookie: first })).status).toBe(401)
    expect((await call(`${server.url}/v1/auth/me`, { cookie: cookieOf(second) })).status).toBe(200)
  })

  test('goes on when its owner logs in elsewhere', async () => {
    const first = cookieOf(await login())
    const second = cookieOf(await login())
    expect((await call(`${server.url}/v1/auth/me`, { cookie: first })).status).toBe(200)
    expect((await call(`${server.url}/v1/auth/me`, { cookie: second })).status).toBe(200)
  })

  test('ends on the server at logout', async () => {
    const cookie = cookieOf(await login())
    const reply = await call(`${server.url}/v1/auth/logout`, { method: 'POST', cookie, headers: { origin: server.url } })
    expect(reply.status).toBe(204)
    expect(reply.headers.get('set-cookie')).toMatch(/Max-Age=0/i)
    expect((await call(`${server.url}/v1/auth/me`, { cookie })).status).toBe(401)
  })

  test('stands in the database only as a hash', async () => {
    const token = cookieOf(await login()).split('=')[1] ?? ''
    const rows = JSON.stringify(server.db.query('SELECT * FROM sessions').all())
    expect(rows).not.toContain(token)
    expect(rows).toContain(new Bun.CryptoHasher('sha256').update(token).digest('hex'))
  })

  test('ends by itself', async () => {
    const cookie = cookieOf(await login())
    server.db.query('UPDATE sessions SET expires_at = ?').run(Date.now() - 1)
    expect((await call(`${server.url}/v1/auth/me`, { cookie })).status).toBe(401)
  })

  test('yields to a Bearer token, even a bad one', async () => {
    const cookie = cookieOf(await login())
    expect((await call(`${server.url}/v1/auth/me`, { cookie, token: 'cpk_nothing' })).status).toBe(401)
    expect((await call(`${server.url}/v1/auth/me`, { cookie, headers: { authorization: 'Basic YTpi' } })).status).toBe(401)
    const both = await call(`${server.url}/v1/auth/me`, { cookie, token: server.adminToken })
    expect(both.body).toMatchObject({ actor: { type: 'static_token' } })
  })

  test('who is not let in is told what was wrong with what they showed, and not whether it ever was good', async () => {
    const told = async (headers: Record<string, string>) =>
      (await call<{ message: string }>(`${server.url}/v1/auth/me`, { headers })).body.message
    expect(await told({})).toContain('Log in, or send a valid API key')
    expect(await told({ authorization: 'Basic YTpi' })).toContain('This Authorization header cannot be read')
    expect(await told({ authorization: 'Bearer cpk_unknown' })).toContain('unknown, over or revoked')
    expect(await told({ cookie: 'cpd_session=unknown' })).toContain('This session is over')
  })
})

describe('a state-changing request with a cookie', () => {
  const rename = async (headers: Record<string, string>) => {
    const cookie = cookieOf(await login())
    return (await call(`${server.url}/v1/api-keys`, { json: { name: 'from a page' }, cookie, headers })).status
  }

  test('is taken from our own pages', async () => {
    expect(await rename({ origin: server.url })).toBe(201)
    expect(await rename({ origin: server.url.replace('127.0.0.1', 'localhost') })).toBe(201)
    expect(await rename({ origin: server.context.publicUrl })).toBe(201)
    expect(await rename({ 'sec-fetch-site': 'same-origin' })).toBe(201)
    expect(await rename({ referer: `${server.url}/docs` })).toBe(201)
  })

  test('is refused from anywhere else', async () => {
    expect(await rename({})).toBe(403)
    expect(await rename({ origin: 'https://evil.example' })).toBe(403)
    expect(await rename({ origin: 'null' })).toBe(403)
    expect(await rename({ origin: `${server.url}.evil.example` })).toBe(403)
    expect(await rename({ 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await rename({ referer: 'https://evil.example/' })).toBe(403)
  })

  test('needs no Origin with a Bearer token', async () => {
    const reply = await call(`${server.url}/v1/api-keys`, { json: { name: 'from a script' }, token: server.adminToken })
    expect(reply.status).toBe(201)
  })

  test('may not be a login from another site either', async () => {
    const reply = await call(`${server.url}/v1/auth/login`, { json: testAdmin, headers: { origin: 'https://evil.example' } })
    expect(reply.status).toBe(403)
  })
})

test('over https the cookie is Secure', async () => {
  const secure = await startTestServer({ env: { CP_PUBLIC_URL: 'https://cp.example.com' } })
  const reply = await call(`${secure.url}/v1/auth/login`, { json: testAdmin })
  expect(reply.headers.get('set-cookie')).toMatch(/Secure/)
  expect(reply.headers.get('strict-transport-security')).not.toBeNull()
  await secure.close()
})
