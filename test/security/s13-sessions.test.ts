import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectError } from '../conformance/expect-error.ts'
import { call, cookieOf } from '../support/client.ts'
import { addMember, defaultWorkspaceId, memberPassword } from '../support/members.ts'
import { startTestServer, type TestServer, testAdmin } from '../support/server.ts'
import { fromPage } from '../support/two-factor.ts'

let server: TestServer
let workspaceId: string
beforeAll(async () => {
  server = await startTestServer({ env: { CP_LOGIN_LIMIT: '1000' } })
  workspaceId = await defaultWorkspaceId(server)
})
afterAll(() => server.close())

const member = () => addMember(server, workspaceId, 'viewer')
const me = async (cookie: string) => (await call(`${server.url}/v1/auth/me`, { cookie })).status

describe('S13: a session', () => {
  test('has a new id at each login, whatever cookie came along, and nobody chooses it', async () => {
    const { email } = await member()
    const chosen = `cpd_session=${'A'.repeat(43)}`
    const json = { email, password: memberPassword }
    const cookies: string[] = []
    for (const cookie of [chosen, chosen, '', undefined]) {
      const reply = await call(`${server.url}/v1/auth/login`, { json, ...(cookie === undefined ? {} : { cookie }) })
      cookies.push(cookieOf(reply))
    }
    expect(new Set([...cookies, chosen]).size).toBe(5)
    expect(await me(chosen)).toBe(401)
  })

  test('ends on the server by logout, change of password, being ended, and removal from the workspace', async () => {
    const logout = await member()
    await fromPage(server, '/auth/logout', logout.cookie, { method: 'POST' })
    expect(await me(logout.cookie)).toBe(401)

    const changed = await member()
    const json = { currentPassword: memberPassword, newPassword: 'a third horse battery' }
    const renewed = cookieOf(await fromPage(server, '/auth/password', changed.cookie, { json }))
    expect([await me(changed.cookie), await me(renewed)]).toEqual([401, 200])

    const ended = await member()
    const again = cookieOf(await call(`${server.url}/v1/auth/login`, { json: { email: ended.email, password: memberPassword } }))
    await fromPage(server, '/sessions', again, { method: 'DELETE' })
    expect([await me(ended.cookie), await me(again)]).toEqual([401, 200])

    const removed = await member()
    await call(`${server.url}/v1/team-members/${removed.userId}`, { method: 'DELETE', token: server.adminToken })
    expect(await me(removed.cookie)).toBe(401)
  })

  test('is known by its whole token only: cut, grown, swapped or doubled it is none', async () => {
    const [ada, bob] = [await member(), await member()]
    const token = ada.cookie.split('=')[1] ?? ''
    const other = bob.cookie.split('=')[1] ?? ''
    const tampered = [
      token.slice(0, -1),
      token.slice(1),
      `${token}A`,
      token.toLowerCase(),
      token.slice(0, 20) + other.slice(20),
      `${token}${other}`,
      `%00${token}`,
      `"${token}"`,
      new Bun.CryptoHasher('sha256').update(token).digest('hex'),
      'x'.repeat(10_000),
      "' OR 1=1 --",
    ]
    for (const value of tampered) expect(await me(`cpd_session=${value}`)).toBe(401)
    expect(await me(`other=${token}; CPD_SESSION=${token}`)).toBe(401)
    expect(await me(ada.cookie)).toBe(200)
  })

  test('is no Bearer token, and no other credential is a session', async () => {
    const { cookie } = await member()
    const token = cookie.split('=')[1] ?? ''
    expectError(await call(`${server.url}/v1/auth/me`, { token }), 'unauthorized')
    expect(await me(`cpd_session=${server.adminToken}`)).toBe(401)
  })

  test('of one server is none of another', async () => {
    const other = await startTestServer()
    const cookie = cookieOf(await call(`${other.url}/v1/auth/login`, { json: testAdmin }))
    expect((await call(`${other.url}/v1/auth/me`, { cookie })).status).toBe(200)
    expect(await me(cookie)).toBe(401)
    await other.close()
  })

  test('with a cookie of a megabyte is refused without harm', async () => {
    const status = await call(`${server.url}/v1/auth/me`, { cookie: `cpd_session=${'x'.repeat(1_000_000)}` }).then(
      (reply) => reply.status,
      () => 0,
    )
    // Bun ends the connection or says that the head is too large.
    expect([0, 400, 401, 413, 431]).toContain(status)
    expect(await me((await member()).cookie)).toBe(200)
  })
})
