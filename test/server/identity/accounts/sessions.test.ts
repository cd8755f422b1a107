import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Session } from '../../../../shared/account.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { call, cookieOf } from '../../../support/client.ts'
import { addMember, defaultWorkspaceId, makeKey, memberPassword } from '../../../support/members.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'
import { fromPage } from '../../../support/two-factor.ts'

let server: TestServer
let workspaceId: string
let now = Date.now()
beforeAll(async () => {
  server = await startTestServer({ parts: { now: () => now }, env: { CP_TRUSTED_PROXIES: '127.0.0.1' } })
  workspaceId = await defaultWorkspaceId(server)
})
afterAll(() => server.close())

type Page = { session: Session; cursor: string }[]
const member = () => addMember(server, workspaceId, 'viewer')
const login = async (email: string, headers: Record<string, string> = {}) =>
  cookieOf(await call(`${server.url}/v1/auth/login`, { json: { email, password: memberPassword }, headers }))
const list = async (cookie: string, query = '') => (await fromPage<Page>(server, `/sessions${query}`, cookie)).body
const me = async (cookie: string) => (await call(`${server.url}/v1/auth/me`, { cookie })).status

describe('sessions', () => {
  test('tell where and with what they were begun, newest first, and which is the present one', async () => {
    const { email, cookie } = await member()
    const second = await login(email, { 'user-agent': 'Lynx/2.9 \t(text)', 'x-forwarded-for': '2001:db8::7' })
    const [newest, oldest, ...none] = (await list(second)).map(({ session }) => session)
    expect(none).toEqual([])
    expect(newest).toMatchObject({ kind: 'browser', address: '2001:db8::7', client: 'Lynx/2.9 (text)', isCurrent: true })
    expect(oldest).toMatchObject({ kind: 'browser', isCurrent: false })
    expect((await list(cookie)).map(({ session }) => session.isCurrent)).toEqual([false, true])
    expect(Date.parse(newest?.expiresAt ?? '') - Date.parse(newest?.createdAt ?? '')).toBe(30 * 24 * 3600 * 1000)
  })

  test('keep 200 characters of what a client calls itself', async () => {
    const { email } = await member()
    const [{ session } = { session: { client: '' } }] = await list(await login(email, { 'user-agent': 'x'.repeat(3000) }))
    expect(session.client).toBe('x'.repeat(200))
  })

  test('come in pages', async () => {
    const { email, cookie } = await member()
    for (let n = 0; n < 3; n++) await login(email)
    const all = await list(cookie)
    const [first] = await list(cookie, '?limit=1')
    expect(await list(cookie, `?limit=2&cursor=${first?.cursor}`)).toEqual(all.slice(1, 3))
    expect(await list(cookie, `?cursor=${all.at(-1)?.cursor}`)).toEqual([])
  })

  test('are those of the user alone', async () => {
    const [ada, bob] = [await member(), await member()]
    const [theirs] = await list(bob.cookie)
    expect((await list(ada.cookie)).map(({ session }) => session.id)).not.toContain(theirs?.session.id)
    expectError(await fromPage(server, `/sessions/${theirs?.session.id}`, ada.cookie, { method: 'DELETE' }), 'not_found')
    expect(await me(bob.cookie)).toBe(200)
  })

  test('end one by one, and the present one takes its cookie along', async () => {
    const { email, cookie } = await member()
    const other = await login(email)
    const [newest] = await list(cookie)
    expect((await fromPage(server, `/sessions/${newest?.session.id}`, cookie, { method: 'DELETE' })).headers.get('set-cookie')).toBeNull()
    expect([await me(cookie), await me(other)]).toEqual([200, 401])
    const [own] = await list(cookie)
    const ended = await fromPage(server, `/sessions/${own?.session.id}`, cookie, { method: 'DELETE' })
    expect(ended.headers.get('set-cookie')).toMatch(/Max-Age=0/i)
    expect(await me(cookie)).toBe(401)
  })

  test('end all at once but the present one', async () => {
    const { email, cookie } = await member()
    const others = [await login(email), await login(email)]
    expect((await fromPage(server, '/sessions', cookie, { method: 'DELETE' })).status).toBe(204)
    expect([await me(cookie), ...(await Promise.all(others.map(me)))]).toEqual([200, 401, 401])
  })

  test('that are over are neither listed nor good', async () => {
    const { cookie } = await member()
    now += 31 * 24 * 3600 * 1000
    expect(await me(cookie)).toBe(401)
    expect(server.db.query('SELECT count(*) AS n FROM sessions WHERE expires_at <= ?').get(now)).not.toEqual({ n: 0 })
    await member()
    expect(server.db.query('SELECT count(*) AS n FROM sessions WHERE expires_at <= ?').get(now)).toEqual({ n: 0 })
  })

  test('and their users are seen at most once a minute', async () => {
    const { userId, cookie } = await member()
    const seen = () =>
      server.db
        .query<{ session: number; user: number }, [string]>(
          'SELECT s.last_seen_at AS session, u.last_seen_at AS user FROM sessions s JOIN users u ON u.id = s.user_id WHERE u.id = ?',
        )
        .get(userId)
    const begunAt = now
    now += 59_000
    await me(cookie)
    expect(seen()).toEqual({ session: begunAt, user: begunAt })
    now += 1000
    await me(cookie)
    expect(seen()).toEqual({ session: now, user: now })
  })

  test('are for people: keys and the static token have none', async () => {
    const { secret } = await makeKey(server, 'admin')
    for (const token of [secret, server.adminToken]) expectError(await call(`${server.url}/v1/sessions`, { token }), 'forbidden')
  })
})
