import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createReset } from '../../../../server/identity/resets/store.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { call, cookieOf } from '../../../support/client.ts'
import { addMember, defaultWorkspaceId, makeKey, memberPassword } from '../../../support/members.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'
import { fromPage } from '../../../support/two-factor.ts'

const newPassword = 'a third horse battery'

let server: TestServer
let workspaceId: string
beforeAll(async () => {
  server = await startTestServer({ env: { CP_LOGIN_LIMIT: '5', CP_TRUSTED_PROXIES: '127.0.0.1' } })
  workspaceId = await defaultWorkspaceId(server)
})
afterAll(() => server.close())

let addresses = 0
/** Each from an address of its own, so that one test's failures are not another's. */
const fresh = () => ({ 'x-forwarded-for': `203.0.113.${++addresses}` })
const member = () => addMember(server, workspaceId, 'developer')
const login = (email: string, password: string) => call(`${server.url}/v1/auth/login`, { json: { email, password }, headers: fresh() })
const me = async (cookie: string) => (await call(`${server.url}/v1/auth/me`, { cookie })).status
const change = (cookie: string, json: unknown, headers = fresh()) => fromPage(server, '/auth/password', cookie, { json, headers })

describe('a change of the password', () => {
  test('ends every other session and gives the present one a new cookie', async () => {
    const { email, cookie } = await member()
    const other = cookieOf(await login(email, memberPassword))
    const reply = await change(cookie, { currentPassword: memberPassword, newPassword })
    expect(reply.status).toBe(204)
    const renewed = cookieOf(reply)
    expect(renewed).toMatch(/^cpd_session=/)
    expect(renewed).not.toBe(cookie)
    expect([await me(cookie), await me(other), await me(renewed)]).toEqual([401, 401, 200])
    expectError(await login(email, memberPassword), 'unauthorized')
    expect((await login(email, newPassword)).status).toBe(200)
  })

  test('wants the present password, and counts wrong ones apart from those of signing in', async () => {
    const { email, cookie } = await member()
    for (let n = 0; n < 5; n++) {
      const body = expectError(await change(cookie, { currentPassword: 'a guess of a thief', newPassword }), 'validation_failed')
      expect(body.details?.[0]?.path).toBe('/currentPassword')
    }
    expectError(await change(cookie, { currentPassword: memberPassword, newPassword }), 'rate_limited')
    expect((await login(email, memberPassword)).status).toBe(200)
    expect(await me(cookie)).toBe(200)
  })

  test('at once from many tries guesses no more often', async () => {
    const { cookie } = await member()
    const replies = await Promise.all(
      Array.from({ length: 12 }, () => change(cookie, { currentPassword: 'a guess of a thief', newPassword })),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([...Array(5).fill(400), ...Array(7).fill(429)])
  })

  test('is none to the same password or to a short one', async () => {
    const { cookie } = await member()
    expectError(await change(cookie, { currentPassword: memberPassword, newPassword: memberPassword }), 'validation_failed')
    expectError(await change(cookie, { currentPassword: memberPassword, newPassword: 'short' }), 'validation_failed')
  })

  test('twice at once happens once', async () => {
    const { email, cookie } = await member()
    const wanted = ['first horse battery', 'second horse battery']
    const replies = await Promise.all(wanted.map((password) => change(cookie, { currentPassword: memberPassword, newPassword: password })))
    expect(replies.filter(({ status }) => status === 204)).toHaveLength(1)
    const winner = wanted[replies.findIndex(({ status }) => status === 204)] ?? ''
    expect((await login(email, winner)).status).toBe(200)
  })

  test('ends pending links and devices that were let in and have not come yet', async () => {
    const { userId, cookie } = await member()
    createReset(server.db, { userId, way: 'shown' }, Date.now())
    await change(cookie, { currentPassword: memberPassword, newPassword })
    expect(server.db.query('SELECT * FROM password_resets WHERE user_id = ?').all(userId)).toEqual([])
  })

  test('is for people: a key and the static token have no account', async () => {
    const { secret } = await makeKey(server, 'admin')
    for (const token of [secret, server.adminToken]) {
      const json = { currentPassword: memberPassword, newPassword }
      const body = expectError(await call(`${server.url}/v1/auth/password`, { json, token }), 'forbidden')
      expect(body.message).toMatch(/cpctl login/)
    }
  })
})
