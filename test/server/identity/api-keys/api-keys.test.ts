import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isKeySecret, newKeySecret } from '../../../../server/identity/api-keys/secret.ts'
import { defaultKeyRole } from '../../../../server/identity/permissions/rules.ts'
import { idPattern } from '../../../../shared/id.ts'
import { type BuiltInRole, builtInRoles, holdsAll } from '../../../../shared/permission.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { call } from '../../../support/client.ts'
import { addMember, defaultWorkspaceId, joinWorkspace, makeKey, registerTenant } from '../../../support/members.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

interface KeyBody {
  id: string
  name: string
  role: string
  created_at: string
  secret: string
}

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

const create = (json: object, token = server.adminToken) => call<KeyBody>(`${server.url}/v1/api-keys`, { json, token })
const list = (token = server.adminToken) => call<Omit<KeyBody, 'secret'>[]>(`${server.url}/v1/api-keys`, { token })

describe('the life of a key', () => {
  test('its secret is shown once and stored as a hash', async () => {
    const { status, body } = await create({ name: 'ci' })
    expect(status).toBe(201)
    expect(Object.keys(body).sort()).toEqual(['created_at', 'id', 'name', 'role', 'secret'])
    expect(body.id).toMatch(new RegExp(idPattern('apiKey')))
    expect(body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(JSON.stringify((await list()).body)).not.toContain(body.secret)
    expect(JSON.stringify(server.db.query('SELECT * FROM api_keys').all())).not.toContain(body.secret)
  })

  test('the list is bare and newest first', async () => {
    for (const name of ['older', 'newer']) await create({ name })
    const { body } = await list()
    expect(body.slice(0, 2).map(({ name }) => name)).toEqual(['newer', 'older'])
    expect(Object.keys(body[0] ?? {}).sort()).toEqual(['created_at', 'id', 'name', 'role'])
  })

  test('a revoked key is dead at once', async () => {
    const { id, secret } = await makeKey(server, 'viewer')
    const me = await call(`${server.url}/v1/auth/me`, { token: secret })
    expect(me.body).toMatchObject({ actor: { type: 'api_key', id }, role: 'viewer' })
    expect((await call(`${server.url}/v1/api-keys/${id}`, { method: 'DELETE', token: server.adminToken })).status).toBe(204)
    expectError(await call(`${server.url}/v1/auth/me`, { token: secret }), 'unauthorized')
    expectError(await call(`${server.url}/v1/api-keys/${id}`, { method: 'DELETE', token: server.adminToken }), 'not_found')
  })

  test('a key works in its own workspace only, and cannot be revoked from another', async () => {
    const tenant = await registerTenant(server, 'key-tenant@example.com')
    const { id } = await makeKey(server, 'developer')
    expectError(await call(`${server.url}/v1/api-keys/${id}`, { method: 'DELETE', token: tenant.token }), 'not_found')
    expectError(
      await call(`${server.url}/v1/auth/me`, { token: tenant.token, headers: { 'x-workspace-id': await defaultWorkspaceId(server) } }),
      'not_found',
    )
    expect((await list(tenant.token)).body.map(({ name }) => name)).toEqual(['tenant'])
  })
})

describe('the role of a key', () => {
  test('is developer unless it is named', async () => {
    expect((await create({ name: 'plain' })).body.role).toBe('developer')
    expect((await create({ name: 'named', role: 'viewer' })).body.role).toBe('viewer')
  })

  test('must exist', async () => {
    const { details } = expectError(await create({ name: 'odd', role: 'emperor' }), 'validation_failed')
    expect(details?.[0]?.path).toBe('/role')
    expectError(await create({ name: 'odd', role: '__proto__' }), 'validation_failed')
  })

  test('is the own role where that holds less than a developer', () => {
    for (const role of Object.keys(builtInRoles) as BuiltInRole[]) {
      const permissions = new Set(builtInRoles[role].permissions)
      const chosen = defaultKeyRole({ role, permissions }) as BuiltInRole
      expect(holdsAll(permissions, builtInRoles[chosen].permissions)).toBe(true)
    }
    expect(defaultKeyRole({ role: 'viewer', permissions: new Set(builtInRoles.viewer.permissions) })).toBe('viewer')
  })
})

test('a user of two workspaces chooses by header or query, and has in each the role of that one', async () => {
  const own = await registerTenant(server, 'two@example.com')
  const workspaceId = await defaultWorkspaceId(server)
  joinWorkspace(server, { userId: own.userId, workspaceId, role: 'viewer' })
  const at = (headers: Record<string, string>) => call(`${server.url}/v1/auth/me`, { cookie: own.cookie, headers })
  expect((await at({})).body).toMatchObject({ workspace: { id: own.workspaceId }, role: 'admin' })
  expect((await at({ 'x-workspace-id': workspaceId })).body).toMatchObject({ workspace: { id: workspaceId }, role: 'viewer' })
  const listIn = (id: string) => call(`${server.url}/v1/services?ownerId=${id}`, { cookie: own.cookie })
  expect((await listIn(workspaceId)).status).toBe(200)
  expectError(await call(`${server.url}/v1/api-keys`, { cookie: own.cookie, headers: { 'x-workspace-id': workspaceId } }), 'forbidden')
  expectError(
    await call(`${server.url}/v1/services?ownerId=${own.workspaceId}`, { cookie: own.cookie, headers: { 'x-workspace-id': workspaceId } }),
    'validation_failed',
  )
  const create = { type: 'web_service', name: 'elsewhere', ownerId: workspaceId }
  expectError(await call(`${server.url}/v1/services`, { json: create, cookie: own.cookie, headers: { origin: server.url } }), 'forbidden')
})

test('a member without apikeys.manage makes no keys', async () => {
  const member = await addMember(server, await defaultWorkspaceId(server), 'developer')
  const reply = await call(`${server.url}/v1/api-keys`, { json: { name: 'sly' }, cookie: member.cookie, headers: { origin: server.url } })
  expect(expectError(reply, 'forbidden').message).toContain('apikeys.manage')
})

test('secrets are long, unlike each other, and carry a checksum', () => {
  const secrets = Array.from({ length: 200 }, newKeySecret)
  expect(new Set(secrets).size).toBe(200)
  for (const secret of secrets) expect(secret).toMatch(/^cpk_[0-9A-Za-z]{36}$/)
  expect(secrets.every(isKeySecret)).toBe(true)
  expect(isKeySecret(`${secrets[0]?.slice(0, -1)}_`)).toBe(false)
  expect(isKeySecret(`cpk_${'a'.repeat(36)}`)).toBe(false)
})
