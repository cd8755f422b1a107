import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Log } from '../../../../shared/log.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { call, cookieOf } from '../../../support/client.ts'
import { makeKey, registerTenant, type Tenant } from '../../../support/members.ts'
import { startTestServer, type TestServer, testAdmin } from '../../../support/server.ts'
import { closed, frames, openSocket, upgradeHeaders } from '../../../support/socket.ts'

let server: TestServer
let stranger: Tenant
let serviceId: string
beforeAll(async () => {
  server = await startTestServer()
  stranger = await registerTenant(server, 'socket-stranger@example.com')
  serviceId = await createService('logged', server.adminToken)
})
afterAll(() => server.close())

async function createService(name: string, token: string): Promise<string> {
  const reply = await call<{ service: { id: string } }>(`${server.url}/v1/services`, { json: { type: 'web_service', name }, token })
  return reply.body.service.id
}

const write = (message: string, resource = serviceId) =>
  server.context.logStore.append([{ timestampMs: Date.now(), resource, instance: '', type: 'app', level: 'info', message }])

const path = (query = '') => `/v1/logs/subscribe${query}`
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const sessionCookie = async () => cookieOf(await call(`${server.url}/v1/auth/login`, { json: testAdmin }))

describe('a handshake is refused as plain HTTP', () => {
  const shake = (headers: Record<string, string>, query = '') =>
    call(server.url + path(query), { headers: { ...upgradeHeaders, ...headers } })

  test('without a credential, or with a bad one', async () => {
    expectError(await shake({}), 'unauthorized')
    expectError(await shake(bearer('cpk_wrong')), 'unauthorized')
    expectError(await shake({ cookie: 'cpd_session=wrong', origin: server.url }), 'unauthorized')
  })

  test('with a role that may not read logs', async () => {
    expectError(await shake(bearer((await makeKey(server, 'billing')).secret)), 'forbidden')
  })

  test('with a cookie from another site, or from nowhere', async () => {
    const cookie = await sessionCookie()
    expectError(await shake({ cookie, origin: 'https://evil.example' }), 'forbidden')
    expectError(await shake({ cookie }), 'forbidden')
  })

  test('for a service of another workspace, or none', async () => {
    expectError(await shake(bearer(stranger.token), `?resource=${serviceId}`), 'not_found')
    expectError(await shake(bearer(server.adminToken), '?resource=srv-00000000000000000000'), 'not_found')
  })

  test('when it is none', async () => {
    expectError(await call(server.url + path(), { token: server.adminToken }), 'bad_request')
  })
})

describe('an open socket', () => {
  test('gets the lines of its workspace and nothing else, each as one text frame', async () => {
    const theirs = await createService('theirs', stranger.token)
    const socket = await openSocket(server.url + path(), bearer(server.adminToken))
    write('of a stranger', theirs)
    write('first')
    write('second')
    const logs = (await frames(socket, 2)).map((text) => JSON.parse(text) as Log)
    expect(logs.map(({ message }) => message)).toEqual(['first', 'second'])
    expect(Object.keys(logs[0] ?? {}).sort()).toEqual(['id', 'labels', 'message', 'timestamp'])
    expect(logs[0]?.labels).toContainEqual({ name: 'resource', value: serviceId })
    socket.close()
  })

  test('begins with history from startTime on, and goes on without a gap', async () => {
    // Lines of the test before this one may be of the present millisecond.
    await Bun.sleep(2)
    const startTime = new Date().toISOString()
    write('history')
    const socket = await openSocket(
      `${server.url}${path(`?resource=${serviceId}&startTime=${startTime}&text=`)}`,
      bearer(server.adminToken),
    )
    write('live')
    const messages = (await frames(socket, 2)).map((text) => (JSON.parse(text) as Log).message)
    expect(messages).toEqual(['history', 'live'])
    socket.close()
  })

  test('may be opened with a session from our own page', async () => {
    const socket = await openSocket(server.url + path(), { cookie: await sessionCookie(), origin: server.url })
    write('for the page')
    expect(await frames(socket, 1)).toHaveLength(1)
    socket.close()
  })

  test('is closed within 5 seconds when its key is revoked', async () => {
    const { id, secret } = await makeKey(server, 'viewer')
    const socket = await openSocket(server.url + path(), bearer(secret))
    const ended = closed(socket)
    const since = Date.now()
    await call(`${server.url}/v1/api-keys/${id}`, { method: 'DELETE', token: server.adminToken })
    expect((await ended).code).toBe(1008)
    expect(Date.now() - since).toBeLessThan(5000)
  })

  test('is closed when its session ends or its user loses the permission', async () => {
    const cookie = await sessionCookie()
    const socket = await openSocket(server.url + path(), { cookie, origin: server.url })
    const ended = closed(socket)
    await call(`${server.url}/v1/auth/logout`, { method: 'POST', cookie, headers: { origin: server.url } })
    expect((await ended).code).toBe(1008)

    const other = await openSocket(server.url + path(), { cookie: stranger.cookie, origin: server.url })
    const lost = closed(other)
    server.db.query("UPDATE members SET role = 'billing' WHERE user_id = ?").run(stranger.userId)
    expect((await lost).code).toBe(1008)
  })

  test('is closed when the client says more than a socket of this kind needs', async () => {
    const socket = await openSocket(server.url + path(), bearer(server.adminToken))
    socket.send('a small word is ignored')
    const ended = closed(socket)
    socket.send('x'.repeat(10_000))
    expect((await ended).code).toBeGreaterThan(1000)
  })

  test('leaves nothing behind when the client goes', async () => {
    const before = server.context.logHub.size()
    const sockets = await Promise.all(Array.from({ length: 20 }, () => openSocket(server.url + path(), bearer(server.adminToken))))
    expect(server.context.logHub.size()).toBe(before + 20)
    const ends = sockets.map(closed)
    for (const socket of sockets) socket.close()
    await Promise.all(ends)
    await expect.poll(() => server.context.logHub.size()).toBe(before)
  })
})

test('a client that does not read loses nothing and holds up nobody', async () => {
  const slow = await openSocket(`${server.url}${path(`?resource=${serviceId}`)}`, bearer(server.adminToken))
  const text = 'x'.repeat(10_000)
  const count = 3000
  for (let n = 0; n < count; n++) write(`${n} ${text}`)
  const got = await frames(slow, count)
  expect(got.map((frame) => Number.parseInt((JSON.parse(frame) as Log).message, 10))).toEqual(Array.from({ length: count }, (_, n) => n))
  slow.close()
})

test('a server that stops says so to its sockets', async () => {
  const other = await startTestServer()
  const socket = await openSocket(other.url + path(), bearer(other.adminToken))
  const ended = closed(socket)
  await other.close()
  expect((await ended).code).toBe(1001)
})
