import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call } from '../../../support/client.ts'
import { startTestServer, type TestServer, testAdmin } from '../../../support/server.ts'
import { type Browsing, browse, formHeaders } from './browsing.ts'

const hostile = '"><img src=x onerror=alert(1)>\'<script>alert(2)</script>'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ env: { CP_GITHUB_CLIENT_ID: 'id', CP_GITHUB_CLIENT_SECRET: 'secret' } })
})
afterAll(() => server.close())

const credentials = { email: testAdmin.email, password: testAdmin.password }
async function loggedIn(): Promise<Browsing> {
  const visitor = browse(server)
  expect(await visitor.post('/login', credentials)).toMatchObject({ status: 303, location: '/account' })
  return visitor
}

const publicPages = ['/login', '/login?error=oauth_expired', '/reset-password', '/reset-password?token=x', '/invite?token=x']
const accountPages = [
  '/account',
  '/account/password',
  '/account/two-factor',
  '/account/sessions',
  '/device',
  '/device?code=BCDF-GHJK',
  '/logout',
]

describe.each([...publicPages, ...accountPages])('%s', (path) => {
  test('runs no script, loads nothing of others, is kept by nobody and tells other sites nothing', async () => {
    const { headers, text } = await (accountPages.includes(path) ? await loggedIn() : browse(server)).get(path)
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    )
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('same-origin')
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(text).not.toMatch(/<script|\son\w+=|\sstyle=|<style|javascript:/i)
    const foreign = [...text.matchAll(/(?:src|href|action)="([a-z]+:[^"]*)"/g)].map(([, url]) => url ?? '')
    expect(foreign.filter((url) => url !== 'data:,' && !url.startsWith(server.context.publicUrl))).toEqual([])
  })
})

describe('a form', () => {
  test('that another site sends is refused before it is read, a login too', async () => {
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: '', 'sec-fetch-site': 'cross-site' },
      { origin: '', referer: 'https://evil.example/login' },
    ]) {
      const visitor = browse(server)
      const { status, text } = await visitor.post('/login', credentials, headers)
      expect({ status, cookies: visitor.cookies.size }).toEqual({ status: 403, cookies: 0 })
      expect(text).toContain('another site')
    }
    const visitor = await loggedIn()
    const other = { origin: 'https://evil.example' }
    for (const path of ['/logout', '/device', '/account/password', '/account/two-factor', '/account/sessions', '/account/identities']) {
      expect((await visitor.post(path, {}, other)).status).toBe(403)
    }
    expect((await visitor.get('/account')).status).toBe(200)
  })

  test('is bounded, of one type, and names each field once', async () => {
    const visitor = browse(server)
    expect((await visitor.post('/login', { ...credentials, more: 'x'.repeat(70_000) })).status).toBe(413)
    expect((await visitor.post('/login', credentials, { 'content-type': 'application/json' })).status).toBe(415)
    const twice = await fetch(`${server.url}/login`, { method: 'POST', headers: formHeaders(server.url), body: 'email=a&email=b' })
    expect(twice.status).toBe(400)
    expect(twice.headers.get('content-type')).toContain('text/html')
  })

  test('with the credential of a key acts as nobody', async () => {
    const headers = { authorization: `Bearer ${server.adminToken}` }
    expect(await browse(server).get('/account', headers)).toMatchObject({ status: 303, location: '/login?returnTo=%2Faccount' })
  })
})

describe('a login leads', () => {
  test.each(['/device?code=BCDF-GHJK', '/account/sessions', '/invite?token=abc', '/docs'])('to %s, which was wanted', async (returnTo) => {
    expect((await browse(server).post('/login', { ...credentials, returnTo })).location).toBe(returnTo)
  })

  test.each([
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/%2f/evil.example',
    '%2f%2fevil.example',
    '\\\\evil.example',
    '/account\\..\\..\\evil',
    '/account\r\nSet-Cookie: a=b',
    '/accounts.evil.example',
    'javascript:alert(1)',
    '/v1/auth/logout',
    '/logout',
    // A browser resolves these: a link to a provider would be begun from a page of ours, by a session that is young.
    '/account/../v1/auth/oauth/github?link=true',
    '/account/%2e%2E/v1/auth/oauth/github?link=true',
    '/account/./../v1/auth/oauth/github',
  ])('never to %s', async (returnTo) => {
    expect((await browse(server).post('/login', { ...credentials, returnTo })).location).toBe('/account')
    const visitor = await loggedIn()
    expect((await visitor.get(`/login?returnTo=${encodeURIComponent(returnTo)}`)).location).toBe('/account')
  })
})

test('S15: pages and redirects do not repeat the Host that a request names', async () => {
  const host = { host: 'evil.example', 'x-forwarded-host': 'evil.example' }
  const visitor = await loggedIn()
  for (const path of [...publicPages, ...accountPages, '/']) {
    const { text, location } = await visitor.get(path, host)
    expect(text + location).not.toContain('evil.example')
  }
})

test('S21: names with markup are text in every page', async () => {
  const visitor = await loggedIn()
  server.db.query('UPDATE workspaces SET name = ?').run(hostile)
  server.db.query('UPDATE users SET name = ?').run(hostile)
  server.db.query("UPDATE sessions SET client = ? WHERE kind = 'browser'").run(hostile)
  const grant = await call<{ user_code: string }>(`${server.url}/v1/device-grant`, { json: { client_name: hostile.slice(0, 100) } })
  const invite = await call<{ token: string }>(`${server.url}/v1/team-invites`, {
    token: server.adminToken,
    json: { email: "o'new&co@example.com", role: 'viewer' },
  })
  const shown: string[] = []
  for (const path of ['/account', '/account/sessions', `/device?code=${grant.body.user_code}`, `/invite?token=${invite.body.token}`]) {
    shown.push((await visitor.get(path)).text)
  }
  shown.push((await visitor.get(`/device?code=${encodeURIComponent(hostile)}`)).text)
  shown.push((await browse(server).post('/login', { email: hostile, password: 'x', returnTo: hostile })).text)
  shown.push((await browse(server).get(`/invite?token=${encodeURIComponent(hostile)}`)).text)
  shown.push((await browse(server).get(`/reset-password?token=${encodeURIComponent(hostile)}`)).text)
  shown.push((await visitor.post('/account/two-factor', { code: '1', setup: `otpauth://totp/x?secret=${hostile}` })).text)
  for (const text of shown) expect(text).not.toMatch(/<img|<script/)
  expect(shown.filter((text) => text.includes('&lt;img')).length).toBeGreaterThanOrEqual(6)
})

test('an address of a page cannot put words into our mouth', async () => {
  const visitor = await loggedIn()
  for (const page of [
    await browse(server).get('/login?error=Call+0900+now&notice=Call+0900+now'),
    await visitor.get('/account?notice=Call+0900+now&error=__proto__'),
    await visitor.get('/account/sessions?notice=constructor'),
  ]) {
    expect(page.text).not.toMatch(/0900|function|\[object|role="(alert|status)"/)
  }
})

test('logins through the page count against the same limit as those through the API', async () => {
  const strict = await startTestServer({ env: { CP_LOGIN_LIMIT: '5' } })
  const wrong = { email: 'somebody@example.com', password: 'wrong' }
  const statuses: number[] = []
  for (let attempt = 0; attempt < 3; attempt++) statuses.push((await browse(strict).post('/login', wrong)).status)
  for (let attempt = 0; attempt < 2; attempt++) statuses.push((await call(`${strict.url}/v1/auth/login`, { json: wrong })).status)
  expect(statuses).toEqual([401, 401, 401, 401, 401])
  const { status, text } = await browse(strict).post('/login', wrong)
  await strict.close()
  expect(status).toBe(429)
  expect(text).toContain('Too many')
  expect(text).toContain('role="alert"')
})

test('a form is in the audit log as the call of the API that it makes, and as an attempt where it is refused', async () => {
  const fresh = await startTestServer()
  const visitor = browse(fresh)
  const login = await visitor.post('/login', credentials)
  await visitor.post('/account/sessions', { id: 'others' }, { origin: 'https://evil.example' })
  const entries = async () => {
    const logs = await call<{ auditLog: unknown }[]>(`${fresh.url}/v1/audit-logs?limit=100`, { token: fresh.adminToken })
    return logs.body.map(({ auditLog }) => auditLog)
  }
  const entered = { event: 'user.signed_in', ip: '127.0.0.1', requestId: login.headers.get('x-request-id') }
  expect(await entries()).toContainEqual(expect.objectContaining(entered))
  const metadata = expect.objectContaining({ operation: 'page', path: '/account/sessions' })
  await expect.poll(entries).toContainEqual(expect.objectContaining({ event: 'access.denied', metadata }))
  await fresh.close()
})
