import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defaultSocketTimings } from '../../../../server/http/sockets/sockets.ts'
import { GRANT_MS } from '../../../../server/identity/devices/rules.ts'
import { forgetSpentAnswers } from '../../../../server/identity/devices/session-store.ts'
import { type DeviceGrant, type DeviceTokens, deviceGrantType, refreshGrantType } from '../../../../shared/device.ts'
import { call, cookieOf, type Reply } from '../../../support/client.ts'
import { addMember, defaultWorkspaceId, makeKey } from '../../../support/members.ts'
import { startTestServer, type TestServer, testAdmin } from '../../../support/server.ts'
import { openSocket } from '../../../support/socket.ts'

/** Render's CLI sends JSON that is called a form. */
const renderForm = { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'render-cli/2.1.0' }
const renderCliId = '429024F5E608930E2A65EF92591A25CC'

let server: TestServer
let clock: number
beforeEach(async () => {
  clock = Date.now()
  server = await startTestServer({ parts: { now: () => clock } })
})
afterEach(() => server.close())

const post = <T = Record<string, unknown>>(path: string, json: unknown, headers: Record<string, string> = {}): Promise<Reply<T>> =>
  call<T>(`${server.url}/v1${path}`, { json, headers })
const begin = async (clientId = 'cpctl'): Promise<DeviceGrant> =>
  (await post<DeviceGrant>('/device-grant', { client_id: clientId, client_name: 'cpctl on laptop' })).body
const poll = (grant: DeviceGrant) =>
  post<DeviceTokens & { error: string }>('/device-token', {
    client_id: 'cpctl',
    grant_type: deviceGrantType,
    device_code: grant.device_code,
  })
const refresh = (token: string) =>
  post<DeviceTokens & { error: string }>('/token/refresh/', { grant_type: refreshGrantType, refresh_token: token })
const browser = async (): Promise<string> => cookieOf(await post('/auth/login', testAdmin))
const answerWith = (cookie: string, code: string, approve = true, origin = server.url) =>
  call(`${server.url}/v1/device-requests`, { json: { code, approve }, cookie, headers: { origin } })
const me = (token: string) => call<{ actor: { email: string }; role: string }>(`${server.url}/v1/auth/me`, { token })

async function loggedIn(clientId?: string): Promise<DeviceTokens> {
  const grant = await begin(clientId)
  await answerWith(await browser(), grant.user_code)
  return (await poll(grant)).body
}

describe('the login of a device', () => {
  test('waits until a user confirms its code, and is that user then', async () => {
    const grant = await begin()
    expect(grant).toMatchObject({ expires_in: 600, interval: 5, verification_uri: `${server.context.publicUrl}/device` })
    expect(grant.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
    expect(grant.verification_uri_complete).toBe(`${grant.verification_uri}?code=${grant.user_code}`)
    expect(await poll(grant)).toMatchObject({ status: 400, body: { error: 'authorization_pending' } })
    const cookie = await browser()
    const asked = await call(`${server.url}/v1/device-requests?code=${grant.user_code.toLowerCase().replace('-', ' ')}`, { cookie })
    expect(asked.body).toMatchObject({
      client: 'cpctl on laptop',
      address: '127.0.0.1',
      status: 'pending',
      workspaces: [{ role: 'admin' }],
    })
    expect((await answerWith(cookie, grant.user_code)).status).toBe(200)
    const { status, body } = await poll(grant)
    expect({ status, type: body.token_type, expires: body.expires_in }).toEqual({ status: 200, type: 'Bearer', expires: 3600 })
    expect(body.access_token).toMatch(/^cpd_at_[\w-]{43}$/)
    expect(await me(body.access_token)).toMatchObject({ status: 200, body: { actor: { email: testAdmin.email }, role: 'admin' } })
  })

  test('gives its tokens once, also to many who ask at once', async () => {
    const grant = await begin()
    await answerWith(await browser(), grant.user_code)
    const replies = await Promise.all(Array.from({ length: 8 }, () => poll(grant)))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(replies.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(7)
  })

  test('says so when it is refused, runs out, asks too often or for something unknown', async () => {
    const refused = await begin()
    await answerWith(await browser(), refused.user_code, false)
    expect((await poll(refused)).body.error).toBe('access_denied')
    const slow = await begin()
    expect((await poll(slow)).body.error).toBe('authorization_pending')
    expect((await poll(slow)).body.error).toBe('slow_down')
    clock += 4000
    expect((await poll(slow)).body.error).toBe('authorization_pending')
    clock += GRANT_MS
    expect(await poll(slow)).toMatchObject({ status: 400, body: { error: 'expired_token', code: 'bad_request' } })
    expect((await poll({ ...slow, device_code: 'unknown' })).body.error).toBe('invalid_grant')
    const wrong = await post('/device-token', { grant_type: 'password', device_code: slow.device_code })
    expect(wrong).toMatchObject({ status: 400, body: { error: 'unsupported_grant_type' } })
  })

  test('cannot be confirmed by a key, by another device, from another site, or twice', async () => {
    const grant = await begin()
    const url = `${server.url}/v1/device-requests`
    const json = { code: grant.user_code, approve: true }
    const { secret } = await makeKey(server, 'admin')
    expect((await call(url, { json, token: secret })).status).toBe(403)
    expect((await call(url, { json, token: (await loggedIn()).access_token })).status).toBe(403)
    const cookie = await browser()
    expect((await answerWith(cookie, grant.user_code, true, 'https://evil.example')).status).toBe(403)
    expect((await call(url, { json, cookie })).status).toBe(403)
    expect((await call(url, { json })).status).toBe(401)
    expect((await poll(grant)).body.error).toBe('authorization_pending')
    expect((await answerWith(cookie, grant.user_code)).status).toBe(200)
    expect((await answerWith(cookie, grant.user_code, false)).status).toBe(409)
  })

  test('wrong codes are counted, so that nobody finds one by trying', async () => {
    const cookie = await browser()
    const grant = await begin()
    const statuses: number[] = []
    for (let attempt = 0; attempt < 12; attempt++) statuses.push((await answerWith(cookie, 'BBBB-BBBB')).status)
    expect(statuses).toEqual([...Array(10).fill(404), 429, 429])
    expect((await answerWith(cookie, grant.user_code)).status).toBe(429)
    clock += 16 * 60_000
    expect((await answerWith(cookie, grant.user_code)).status).toBe(404)
  })

  test('is not asked for without end from one address', async () => {
    for (let count = 0; count < 20; count++) expect((await post('/device-grant', {})).status).toBe(200)
    expect((await post('/device-grant', {})).status).toBe(429)
    clock += GRANT_MS
    expect((await post('/device-grant', {})).status).toBe(200)
  })

  test('keeps no code or token in clear', async () => {
    const grant = await begin()
    const tokens = await loggedIn()
    const stored = JSON.stringify([server.db.query('SELECT * FROM sessions').all(), server.db.query('SELECT * FROM device_grants').all()])
    for (const secret of [grant.device_code, tokens.access_token, tokens.refresh_token]) expect(stored).not.toContain(secret)
  })
})

describe('the tokens of a device', () => {
  test('last an hour, and are exchanged for new ones', async () => {
    const first = await loggedIn()
    clock += 3600_000
    expect((await me(first.access_token)).status).toBe(401)
    const second = await refresh(first.refresh_token)
    expect(second.status).toBe(200)
    expect((await me(second.body.access_token)).status).toBe(200)
    expect((await me(first.access_token)).status).toBe(401)
  })

  test('end when a spent refresh token is shown again, however many came after it', async () => {
    const first = await loggedIn()
    const second = (await refresh(first.refresh_token)).body
    const third = (await refresh(second.refresh_token)).body
    expect((await me(third.access_token)).status).toBe(200)
    expect(await refresh(first.refresh_token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect((await me(third.access_token)).status).toBe(401)
    expect((await refresh(third.refresh_token)).body.error).toBe('invalid_grant')
  })

  test('S36: are exchanged once when many try at once or ask again, and all of them get the same', async () => {
    const { refresh_token } = await loggedIn()
    const replies = await Promise.all(Array.from({ length: 5 }, () => refresh(refresh_token)))
    clock += 59_000
    replies.push(await refresh(refresh_token))
    expect(replies.map(({ status }) => status)).toEqual(Array(6).fill(200))
    const tokens = new Set(replies.map(({ body }) => `${body.access_token} ${body.refresh_token}`))
    expect(tokens.size).toBe(1)
    expect((await me(replies[0]?.body.access_token ?? '')).status).toBe(200)
    const stored = JSON.stringify(server.db.query('SELECT * FROM sessions').all())
    expect(stored).not.toContain(replies[0]?.body.refresh_token)
  })

  test('are kept for who asks again as long as that is answered, and no longer', async () => {
    const { refresh_token } = await loggedIn()
    const next = (await refresh(refresh_token)).body
    const kept = () => server.db.query('SELECT 1 FROM sessions WHERE spent_answer_sealed IS NOT NULL').all().length
    clock += 59_000
    forgetSpentAnswers(server.db, clock)
    expect(kept()).toBe(1)
    clock += 1000
    forgetSpentAnswers(server.db, clock)
    expect(kept()).toBe(0)
    expect((await refresh(next.refresh_token)).status).toBe(200)
    expect((await refresh(refresh_token)).body.error).toBe('invalid_grant')
  })

  test('end the session when the spent token is shown again after a minute', async () => {
    const { refresh_token } = await loggedIn()
    const { access_token } = (await refresh(refresh_token)).body
    clock += 60_000
    expect(await refresh(refresh_token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect((await me(access_token)).status).toBe(401)
    expect(server.db.query("SELECT 1 FROM sessions WHERE kind = 'device'").all()).toEqual([])
  })

  test('end after ninety days', async () => {
    const { refresh_token } = await loggedIn()
    clock += 90 * 24 * 3600_000
    expect((await refresh(refresh_token)).body.error).toBe('invalid_grant')
  })

  test('end with revocation, by either of them, and with the membership of the user', async () => {
    for (const which of ['access_token', 'refresh_token'] as const) {
      const tokens = await loggedIn()
      expect((await post('/oauth/revoke', { token: tokens[which] })).status).toBe(204)
      expect((await me(tokens.access_token)).status).toBe(401)
      expect((await refresh(tokens.refresh_token)).status).toBe(400)
    }
    const member = await addMember(server, await defaultWorkspaceId(server), 'viewer')
    const grant = await begin()
    await answerWith(member.cookie, grant.user_code)
    const { access_token } = (await poll(grant)).body
    expect((await me(access_token)).body.role).toBe('viewer')
    server.db.query('DELETE FROM users WHERE id = ?').run(member.userId)
    expect((await me(access_token)).status).toBe(401)
  })

  test('do for what has begun by then: its WebSockets outlast the token, and end with the session', async () => {
    const tokens = await loggedIn()
    const service = await call<{ service: { id: string } }>(`${server.url}/v1/services`, {
      json: { type: 'web_service', name: 'followed' },
      token: tokens.access_token,
    })
    const path = `/v1/logs/subscribe?resource=${service.body.service.id}`
    const socket = await openSocket(server.url + path, { authorization: `Bearer ${tokens.access_token}` })
    const next = (await refresh(tokens.refresh_token)).body
    await Bun.sleep(defaultSocketTimings.recheckMs + 1000)
    expect(socket.readyState).toBe(WebSocket.OPEN)
    const closed = new Promise((resolve) => socket.addEventListener('close', resolve))
    await post('/oauth/revoke', { token: next.refresh_token })
    await closed
  }, 30_000)

  test('are no session cookies, and the cookie is no token', async () => {
    const { access_token, refresh_token } = await loggedIn()
    const url = `${server.url}/v1/auth/me`
    expect((await call(url, { cookie: `cpd_session=${access_token}` })).status).toBe(401)
    expect((await call(url, { token: refresh_token })).status).toBe(401)
    expect((await call(url, { token: (await browser()).split('=')[1] ?? '' })).status).toBe(401)
  })
})

describe("Render's CLI", () => {
  const send = <T>(path: string, body: unknown, headers: Record<string, string> = {}) =>
    call<T>(`${server.url}/v1${path}`, {
      method: 'POST',
      headers: { ...renderForm, ...headers },
      ...(body === undefined ? {} : { raw: JSON.stringify(body) }),
    })

  test('logs in, refreshes and logs out with the requests it makes', async () => {
    const grant = (await send<DeviceGrant>('/device-grant', { client_id: renderCliId })).body
    const body = { grant_type: deviceGrantType, client_id: renderCliId, device_code: grant.device_code }
    expect(await send('/device-token', body)).toMatchObject({ status: 400, body: { error: 'authorization_pending' } })
    const cookie = await browser()
    const asked = await call(`${server.url}/v1/device-requests?code=${grant.user_code}`, { cookie })
    expect(asked.body).toMatchObject({ client: 'render-cli/2.1.0' })
    await answerWith(cookie, grant.user_code)
    const tokens = await send<DeviceTokens>('/device-token', body)
    // A client refreshes as soon as less than a day is left.
    expect(tokens).toMatchObject({ status: 200, body: { expires_in: 48 * 3600 } })
    const next = await send<DeviceTokens>('/token/refresh/', { grant_type: refreshGrantType, refresh_token: tokens.body.refresh_token })
    expect((await me(next.body.access_token)).status).toBe(200)
    expect((await send('/oauth/revoke', undefined, { authorization: `Bearer ${next.body.access_token}` })).status).toBe(204)
    expect((await me(next.body.access_token)).status).toBe(401)
  })

  test('and other clients of OAuth may send real forms, at paths with and without a slash at the end', async () => {
    const grant = await call<DeviceGrant>(`${server.url}/v1/device-grant/`, {
      raw: new URLSearchParams({ client_id: 'other' }).toString(),
      headers: renderForm,
    })
    expect(grant.status).toBe(200)
    for (const slash of ['', '/']) {
      const raw = new URLSearchParams({ grant_type: deviceGrantType, device_code: grant.body.device_code }).toString()
      const reply = await call<{ error: string }>(`${server.url}/v1/device-token${slash}`, { raw, headers: renderForm })
      expect(reply).toMatchObject({ status: 400 })
      expect(['authorization_pending', 'slow_down']).toContain(reply.body.error)
    }
    const twice = await call(`${server.url}/v1/device-grant`, { raw: 'client_id=a&client_id=b', headers: renderForm })
    expect(twice.status).toBe(400)
  })
})
