import { expect, test } from 'vitest'
import { registrationPolicy } from '../../../../server/identity/users/registration-policy.ts'
import { seedFirstStart } from '../../../../server/identity/users/seed.ts'
import { permissionNames } from '../../../../shared/permission.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { call } from '../../../support/client.ts'
import { memberPassword, registerTenant } from '../../../support/members.ts'
import { startTestServer, testStaticToken } from '../../../support/server.ts'

test('the first start makes the administrator once', async () => {
  const server = await startTestServer()
  expect(await seedFirstStart(server.context)).toBeUndefined()
  expect(server.db.query('SELECT * FROM users').all()).toHaveLength(1)
  await server.close()
})

test('a password that was made is told once and works', async () => {
  const server = await startTestServer()
  for (const table of ['meta', 'members', 'users', 'workspaces']) server.db.run(`DELETE FROM ${table}`)
  const seeded = await seedFirstStart({ ...server.context, config: { CP_ADMIN_EMAIL: 'root@example.com', CP_ADMIN_PASSWORD: undefined } })
  expect(seeded?.generatedPassword).toMatch(/^[\w-]{20}$/)
  const reply = await call(`${server.url}/v1/auth/login`, { json: { email: 'root@example.com', password: seeded?.generatedPassword } })
  expect(reply.status).toBe(200)
  await server.close()
})

test('somebody who registers is administrator of a workspace of their own and sees no other', async () => {
  const server = await startTestServer()
  const { cookie, workspaceId } = await registerTenant(server, 'ada@example.com')
  const owners = await call<{ owner: { id: string } }[]>(`${server.url}/v1/owners`, { cookie })
  expect(owners.body.map(({ owner }) => owner.id)).toEqual([workspaceId])
  const again = await call(`${server.url}/v1/auth/register`, { json: { email: 'ADA@example.com', password: memberPassword } })
  expectError(again, 'conflict')
  expectError(await call(`${server.url}/v1/auth/register`, { json: { email: 'bob@example.com', password: 'short' } }), 'validation_failed')
  expectError(
    await call(`${server.url}/v1/auth/register`, { json: { email: 'no address', password: memberPassword } }),
    'validation_failed',
  )
  await server.close()
})

test('strangers may register where only this machine can reach the API, or where it is configured', async () => {
  const at = (host: string, CP_REGISTRATION: '' | 'open' | 'invite' | 'closed', outside: { url?: string; proxies?: string[] } = {}) =>
    registrationPolicy({
      CP_REGISTRATION,
      CP_LISTEN: { host, port: 8400 },
      CP_PUBLIC_URL: outside.url,
      CP_TRUSTED_PROXIES: outside.proxies ?? [],
    })
  expect(at('127.0.0.1', '')).toBe('open')
  expect(at('0.0.0.0', '')).toBe('invite')
  expect(at('0.0.0.0', 'open')).toBe('open')
  expect(at('127.0.0.1', 'closed')).toBe('closed')
  expect(at('127.0.0.1', 'invite')).toBe('invite')
  expect(at('127.0.0.1', '', { url: 'http://localhost:8400' })).toBe('open')
  expect(at('127.0.0.1', '', { url: 'https://cp.example.com' })).toBe('invite')
  expect(at('127.0.0.1', '', { proxies: ['127.0.0.1/32'] })).toBe('invite')
  const server = await startTestServer({ env: { CP_REGISTRATION: 'closed' } })
  const reply = await call(`${server.url}/v1/auth/register`, { json: { email: 'ada@example.com', password: memberPassword } })
  expectError(reply, 'forbidden')
  await server.close()
})

test('the static token is the administrator of the default workspace, under the same checks, and stands nowhere', async () => {
  const server = await startTestServer()
  const me = await call(`${server.url}/v1/auth/me`, { token: testStaticToken })
  expect(me.body).toMatchObject({ actor: { type: 'static_token', email: 'admin@localhost' }, role: 'admin' })
  expectError(await call(`${server.url}/v1/auth/me`, { token: `${testStaticToken}x` }), 'unauthorized')
  expectError(await call(`${server.url}/v1/auth/me`, { token: testStaticToken.slice(0, -1) }), 'unauthorized')

  expectError(await call(`${server.url}/v1/auth/me`, { token: testStaticToken, headers: { 'x-workspace-id': 'tea-other' } }), 'not_found')

  server.db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  const stored = Buffer.from(await Bun.file(server.context.paths.controlDb).arrayBuffer())
  expect(stored.includes(testStaticToken)).toBe(false)
  expect(server.logged.join('')).not.toContain(testStaticToken)
  await server.close()
})

test('the static token stays the way back in when the seeded account was demoted, removed, and everything about it is gone', async () => {
  const server = await startTestServer()
  const ways = ["UPDATE members SET role = 'viewer', scope = '[]'", 'DELETE FROM members', 'DELETE FROM users']
  for (const sql of ways) {
    server.db.run(sql)
    const me = await call(`${server.url}/v1/auth/me`, { token: testStaticToken })
    expect(me.body).toMatchObject({ actor: { type: 'static_token' }, role: 'admin', permissions: permissionNames })
    expect((await call(`${server.url}/v1/api-keys`, { token: testStaticToken })).status).toBe(200)
  }
  await server.close()
})

test('without a static token nothing stands in for it', async () => {
  const server = await startTestServer({ env: { SERVICE_API_TOKEN: '' } })
  expectError(await call(`${server.url}/v1/auth/me`, { token: testStaticToken }), 'unauthorized')
  expectError(await call(`${server.url}/v1/auth/me`, { headers: { authorization: 'Bearer ' } }), 'unauthorized')
  await server.close()
})
