import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MAX_KEYS } from '../../../../server/identity/api-keys/create.ts'
import { newKeySecret } from '../../../../server/identity/api-keys/secret.ts'
import { insertKey, revokeKeysOf } from '../../../../server/identity/api-keys/store.ts'
import { USE_INTERVAL_MS } from '../../../../server/identity/credentials/use-recorder.ts'
import { newId } from '../../../../server/platform/id.ts'
import type { ApiKeyCreated, ApiKeyDetails } from '../../../../shared/api-key.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { call } from '../../../support/client.ts'
import { addMember, defaultWorkspaceId, makeKey, registerTenant } from '../../../support/members.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'
import { closed, openSocket } from '../../../support/socket.ts'

let server: TestServer
let now = Date.now()
beforeAll(async () => {
  server = await startTestServer({ parts: { now: () => now } })
})
beforeEach(() => {
  now = Date.now()
})
afterAll(() => server.close())

const DAY_MS = 24 * 3600 * 1000
const create = (json: object, who: object = { token: server.adminToken }) =>
  call<ApiKeyCreated>(`${server.url}/v1/api-keys`, { json, ...who })
const details = async (id: string) => (await call<ApiKeyDetails>(`${server.url}/v1/api-keys/${id}`, { token: server.adminToken })).body
const me = (token: string) => call(`${server.url}/v1/auth/me`, { token })
const isoAfter = (ms: number) => new Date(now + ms).toISOString()

describe('the end of a key', () => {
  test('comes at its time: the next request is 401', async () => {
    const { body } = await create({ name: 'short', role: 'viewer', expires_at: isoAfter(DAY_MS) })
    expect(Object.keys(body).sort()).toEqual(['created_at', 'id', 'name', 'role', 'secret'])
    expect((await details(body.id)).expires_at).toBe(isoAfter(DAY_MS))
    now += DAY_MS - 1
    expect((await me(body.secret)).status).toBe(200)
    now += 1
    expectError(await me(body.secret), 'unauthorized')
    const list = await call<object[]>(`${server.url}/v1/api-keys`, { token: server.adminToken })
    expect(list.body).toContainEqual({ id: body.id, name: 'short', role: 'viewer', created_at: body.created_at })
  })

  test('closes its WebSockets within 5 s', async () => {
    const { body } = await create({ name: 'listening', role: 'viewer', expires_at: isoAfter(DAY_MS) })
    const socket = await openSocket(`${server.url}/v1/logs/subscribe`, { authorization: `Bearer ${body.secret}` })
    const end = closed(socket)
    now += DAY_MS
    const endedAt = performance.now()
    expect(await end).toMatchObject({ code: 1008 })
    expect(performance.now() - endedAt).toBeLessThan(5000)
  })

  test('is no later than that of the key it was made with', async () => {
    const { secret } = (await create({ name: 'lender', role: 'admin', expires_at: isoAfter(DAY_MS) })).body
    for (const expires_at of [undefined, null, isoAfter(DAY_MS)]) {
      const { body } = await create({ name: 'lent', expires_at }, { token: secret })
      expect((await details(body.id)).expires_at).toBe(isoAfter(DAY_MS))
    }
    const { message } = expectError(
      await create({ name: 'longer', expires_at: isoAfter(DAY_MS + 1) }, { token: secret }),
      'validation_failed',
    )
    expect(message).toContain(isoAfter(DAY_MS))
  })

  test('is none unless it is given, and lies ahead', async () => {
    for (const expires_at of [undefined, null]) {
      const { body } = await create({ name: 'endless', expires_at })
      expect((await details(body.id)).expires_at).toBeNull()
    }
    const past = expectError(await create({ name: 'past', expires_at: isoAfter(-1000) }), 'validation_failed')
    expect(past.details?.[0]?.path).toBe('/expires_at')
    for (const expires_at of ['tomorrow', '', 7, '2026-13-01T00:00:00Z', '2030-01-01'])
      expectError(await create({ name: 'odd', expires_at }), 'validation_failed')
  })
})

describe('what is told of a key', () => {
  test('is who made it, and for a key made with a key the user behind that one', async () => {
    const tenant = await registerTenant(server, 'makers@example.com')
    const first = await create({ name: 'first', role: 'admin' }, { cookie: tenant.cookie, headers: { origin: server.url } })
    const second = await create({ name: 'second', role: 'admin' }, { token: first.body.secret })
    const third = await create({ name: 'third', role: 'viewer' }, { token: second.body.secret })
    const of = (id: string) => call<ApiKeyDetails>(`${server.url}/v1/api-keys/${id}`, { token: tenant.token })
    for (const { body } of [first, second, third]) expect((await of(body.id)).body.created_by).toBe(tenant.userId)
    const user = await call(`${server.url}/v1/users`, { token: third.body.secret })
    expect(user.body).toMatchObject({ id: tenant.userId, email: 'makers@example.com' })
    expectError(await call(`${server.url}/v1/api-keys/${first.body.id}`, { token: server.adminToken }), 'not_found')
  })

  test('is the operator for those of the static token, who is greeted as the seeded administrator', async () => {
    const { id, secret } = await makeKey(server, 'viewer')
    expect((await details(id)).created_by).toBe('static_token')
    expect((await call(`${server.url}/v1/users`, { token: secret })).body).toMatchObject({ email: 'admin@localhost' })
  })

  test('is when it was last used, written at most once a minute', async () => {
    const { id, secret } = await makeKey(server, 'viewer')
    expect((await details(id)).last_used_at).toBeNull()
    const firstAt = isoAfter(0)
    await me(secret)
    await expect.poll(async () => (await details(id)).last_used_at).toBe(firstAt)
    now += USE_INTERVAL_MS - 1
    await me(secret)
    await Bun.sleep(20)
    expect((await details(id)).last_used_at).toBe(firstAt)
    now += 1
    await Promise.all([me(secret), me(secret), me(secret)])
    await expect.poll(async () => (await details(id)).last_used_at).toBe(isoAfter(0))
  })

  test('needs apikeys.manage', async () => {
    const { id, secret } = await makeKey(server, 'developer')
    expect(expectError(await call(`${server.url}/v1/api-keys/${id}`, { token: secret }), 'forbidden').message).toContain('apikeys.manage')
  })
})

test('the keys that a user made, directly or with a key, are revoked together, and nobody else is hit', async () => {
  const workspaceId = await defaultWorkspaceId(server)
  const [leaver, stayer] = [await addMember(server, workspaceId, 'admin'), await addMember(server, workspaceId, 'admin')]
  const by = (cookie: string) => ({ cookie, headers: { origin: server.url } })
  const first = (await create({ name: 'direct', role: 'admin' }, by(leaver.cookie))).body
  const second = (await create({ name: 'with a key', role: 'admin' }, { token: first.secret })).body
  await call(`${server.url}/v1/api-keys/${first.id}`, { method: 'DELETE', token: server.adminToken })
  const third = (await create({ name: 'with that key', role: 'viewer' }, { token: second.secret })).body
  const kept = (await create({ name: 'kept', role: 'viewer' }, by(stayer.cookie))).body
  const operators = await makeKey(server, 'viewer')
  expect(revokeKeysOf(server.db, workspaceId, leaver.userId).map(({ name }) => name)).toEqual(['with that key', 'with a key'])
  for (const { secret } of [second, third]) expectError(await me(secret), 'unauthorized')
  for (const { secret } of [kept, operators]) expect((await me(secret)).status).toBe(200)
})

test('a key enters no workspace that is being deleted, and neither do its members', async () => {
  const tenant = await registerTenant(server, 'ending@example.com')
  server.db.query('UPDATE workspaces SET deleted_at = 1 WHERE id = ?').run(tenant.workspaceId)
  expectError(await me(tenant.token), 'unauthorized')
  expectError(await call(`${server.url}/v1/services`, { cookie: tenant.cookie }), 'forbidden')
  const named = { cookie: tenant.cookie, headers: { 'x-workspace-id': tenant.workspaceId } }
  expectError(await call(`${server.url}/v1/services`, named), 'not_found')
})

test('a key of a role that is gone may do nothing', async () => {
  const json = { name: 'passing', permissions: ['services.read'] }
  const role = await call<{ id: string }>(`${server.url}/v1/roles`, { json, token: server.adminToken })
  const { secret } = await makeKey(server, 'passing')
  // No route does this: the role is in use.
  server.db.query('DELETE FROM roles WHERE id = ?').run(role.body.id)
  expect((await me(secret)).body).toMatchObject({ permissions: [] })
  expectError(await call(`${server.url}/v1/services`, { token: secret }), 'forbidden')
  expectError(await create({ name: 'late', role: 'passing' }), 'validation_failed')
})

describe('what is no key', () => {
  test('is 401, whatever its form: cut, swapped, too long, of strange letters, or of another server', async () => {
    const { secret } = await makeKey(server, 'viewer')
    const swapped = secret.slice(0, 10) + secret.charAt(11) + secret.charAt(10) + secret.slice(12)
    const tokens = [
      secret.slice(0, -1),
      `${secret}0`,
      secret.toLowerCase(),
      secret.slice(4),
      'cpk_',
      newKeySecret(),
      'x'.repeat(512),
      'x'.repeat(513),
    ]
    if (swapped !== secret) tokens.push(swapped)
    for (const token of tokens) expectError(await me(token), 'unauthorized')
  })

  test('is refused without a look into the database where its checksum does not fit', async () => {
    const { secret } = await makeKey(server, 'viewer')
    const hash = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex')
    const forged = `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`
    // A remembered count would be found there.
    server.db.query('UPDATE api_keys SET secret_hash = ? WHERE secret_hash = ?').run(hash(forged), hash(secret))
    expectError(await me(forged), 'unauthorized')
  })

  test('is refused at 1 MB as well, and the server goes on', async () => {
    const { hostname, port } = new URL(server.url)
    const answer = await new Promise<string>((resolve) => {
      let text = ''
      const socket = connect(Number(port), hostname)
      socket.on('data', (data) => {
        text += data
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve(text))
      socket.write('GET /v1/auth/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer cpk_')
      socket.end(`${'a'.repeat(1024 * 1024)}\r\n\r\n`)
    })
    expect(answer).toMatch(/^(HTTP\/1\.1 (400|401|413|431) |$)/)
    expect((await me(server.adminToken)).status).toBe(200)
    expect(server.logged.join('')).not.toContain('request failed')
  })
})

test('a workspace has a thousand keys at most', async () => {
  const tenant = await registerTenant(server, 'collector@example.com')
  const key = { workspaceId: tenant.workspaceId, name: 'k', role: 'viewer', scope: undefined, createdBy: tenant.userId }
  const times = { createdAt: now, expiresAt: null, lastUsedAt: null }
  for (let count = 1; count < MAX_KEYS; count++)
    insertKey(server.db, { ...key, ...times, id: newId('apiKey'), secretHash: `hash ${count}` })
  const [first] = (await call<{ id: string }[]>(`${server.url}/v1/api-keys`, { token: tenant.token })).body
  expectError(await create({ name: 'one more' }, { token: tenant.token }), 'conflict')
  await call(`${server.url}/v1/api-keys/${first?.id}`, { method: 'DELETE', token: tenant.token })
  expect((await create({ name: 'one more' }, { token: tenant.token })).status).toBe(201)
})
