import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operationIds, operationOf } from '../../shared/api.ts'
import { type BuiltInRole, builtInRoles, type Permission } from '../../shared/permission.ts'
import { call } from '../support/client.ts'
import { defaultWorkspaceId, makeKey, registerTenant, type Tenant } from '../support/members.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { expectConventions, expectError } from './expect-error.ts'
import { type PathIds, requestOf } from './requests.ts'

let server: TestServer
let stranger: Tenant
let ownIds: PathIds
const keys = new Map<string, string>()
let revoked: string

beforeAll(async () => {
  server = await startTestServer()
  stranger = await registerTenant(server, 'stranger@example.com')
  for (const role of Object.keys(builtInRoles)) keys.set(role, (await makeKey(server, role)).secret)
  const dead = await makeKey(server, 'admin')
  await call(`${server.url}/v1/api-keys/${dead.id}`, { method: 'DELETE', token: server.adminToken })
  revoked = dead.secret
  const service = await call<{ service: { id: string } }>(`${server.url}/v1/services`, {
    json: { type: 'web_service', name: 'own' },
    token: server.adminToken,
  })
  ownIds = { serviceId: service.body.service.id, ownerId: await defaultWorkspaceId(server), keyId: dead.id }
})
afterAll(() => server.close())

const send = (id: (typeof operationIds)[number], token?: string, ids: PathIds = ownIds) => {
  const { path, options } = requestOf(id, ids)
  return call(server.url + path, { ...options, ...(token === undefined ? {} : { token }) })
}

const guarded = operationIds.filter((id) => operationOf(id).access !== 'public')
const scoped = guarded.filter((id) => /:(serviceId|eventId|keyId|ownerId)/.test(operationOf(id).path))

describe.each(guarded)('%s', (id) => {
  const { access } = operationOf(id)

  test('is 401 without a credential, with a bad one, and with a revoked key', async () => {
    for (const token of [undefined, 'cpk_wrong', revoked]) expectError(await send(id, token), 'unauthorized')
    expectError(
      await call(server.url + requestOf(id).path, { method: operationOf(id).method, cookie: 'cpd_session=wrong' }),
      'unauthorized',
    )
  })

  test.each(['viewer', 'billing', 'developer'] as BuiltInRole[])('answers a %s as the table says', async (role) => {
    const held = builtInRoles[role].permissions
    const isAllowed = access === 'authenticated' || held.includes(access as Permission)
    if (isAllowed) {
      // With ids that nobody has: let in, and nothing is changed.
      const { status } = await send(id, keys.get(role), {})
      return expect({ status, isLetIn: ![401, 403, 500].includes(status) }).toEqual({ status, isLetIn: true })
    }
    const body = expectError(await send(id, keys.get(role)), 'forbidden')
    expect(body.message).toContain(access)
  })
})

describe.each(scoped)('%s', (id) => {
  test('answers 404 for what belongs to another workspace', async () => {
    expectError(await send(id, stranger.token), 'not_found')
  })
})

describe.each(guarded.filter((id) => operationOf(id).method === 'GET' && !operationOf(id).webSocket))('%s', (id) => {
  test('lets in whoever holds the permission', async () => {
    const reply = await send(id, server.adminToken)
    expect([200, 404]).toContain(reply.status)
    expectConventions(reply)
  })

  test('answers 404 when another workspace is named in the header or query', async () => {
    const { path } = requestOf(id, ownIds)
    const headers = { 'x-workspace-id': stranger.workspaceId }
    expectError(await call(server.url + path, { token: server.adminToken, headers }), 'not_found')
    if ('ownerId' in (operationOf(id).query?.properties ?? {})) {
      const joint = path.includes('?') ? '&' : '?'
      expectError(await call(`${server.url}${path}${joint}ownerId=${stranger.workspaceId}`, { token: server.adminToken }), 'not_found')
    }
  })
})

test('a service cannot be created in another workspace', async () => {
  const reply = await call(`${server.url}/v1/services`, {
    json: { type: 'web_service', name: 'there', ownerId: stranger.workspaceId },
    token: server.adminToken,
  })
  expectError(reply, 'not_found')
  const theirs = await call<unknown[]>(`${server.url}/v1/services`, { token: stranger.token })
  expect(theirs.body).toEqual([])
})
