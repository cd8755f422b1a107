import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AuditEntry } from '../../../../shared/audit.ts'
import { call } from '../../../support/client.ts'
import { defaultWorkspaceId, makeKey, registerTenant } from '../../../support/members.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'
import { until } from '../../../support/until.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

type Page = { auditLog: AuditEntry; cursor: string }[]

const listed = async (query = '', token = server.adminToken): Promise<AuditEntry[]> => {
  const { body } = await call<Page>(`${server.url}/v1/audit-logs?limit=1000&${query}`, { token })
  return body.map(({ auditLog }) => auditLog)
}

const newest = async (event: string, token = server.adminToken): Promise<AuditEntry | undefined> =>
  (await listed(`event=${event}`, token))[0]

async function makeService(name: string): Promise<string> {
  const json = { type: 'web_service', name, envVars: [{ key: 'FIRST', value: 'first secret' }] }
  const { body } = await call<{ service: { id: string } }>(`${server.url}/v1/services`, { token: server.adminToken, json })
  return body.service.id
}

describe('an entry tells', () => {
  test('who changed what from where, with the fields before and after', async () => {
    const id = await makeService('told')
    const key = await makeKey(server, 'admin')
    const { headers } = await call(`${server.url}/v1/services/${id}`, { method: 'PATCH', json: { rootDir: 'app' }, token: key.secret })
    expect(await newest('service.updated')).toMatchObject({
      status: 'success',
      actor: { type: 'rest_api', id: key.id },
      target: id,
      ip: '127.0.0.1',
      requestId: headers.get('x-request-id'),
      metadata: {
        operation: 'updateService',
        request: { serviceId: id, rootDir: 'app' },
        changes: { rootDir: { before: '', after: 'app' } },
      },
    })
  })

  test('what something was that is gone', async () => {
    const id = await makeService('gone')
    await call(`${server.url}/v1/services/${id}`, { method: 'DELETE', token: server.adminToken })
    expect((await newest('service.deleted'))?.metadata).toMatchObject({ removed: { name: 'gone', type: 'web_service' } })
  })

  test('the static token by a name of its own', async () => {
    await makeService('by-token')
    expect((await newest('service.created'))?.actor).toEqual({ type: 'rest_api', id: 'static_token' })
  })

  test('which variables changed, and of no value what it is', async () => {
    const id = await makeService('variables')
    const json = [
      { key: 'FIRST', value: 'another secret' },
      { key: 'SECOND', value: 'second secret' },
    ]
    await call(`${server.url}/v1/services/${id}/env-vars`, { method: 'PUT', json, token: server.adminToken })
    const entry = await newest('env_vars.replaced')
    expect(entry?.metadata.changes).toEqual({
      'envVars.FIRST': { before: '[hidden]', after: '[hidden]' },
      'envVars.SECOND': { after: '[hidden]' },
    })
    expect(JSON.stringify(await listed())).not.toMatch(/secret"|first secret|second secret|another secret/)
    await call(`${server.url}/v1/services/${id}/env-vars`, { method: 'PUT', json, token: server.adminToken })
    expect((await newest('env_vars.replaced'))?.metadata.changes).toEqual({})
  })
})

describe('sign-ins', () => {
  test('are told in each workspace of the user, and nowhere else', async () => {
    const ada = await registerTenant(server, 'ada@example.com')
    const stranger = await registerTenant(server, 'stranger@example.com')
    const me = await call<{ workspace: { id: string } }>(`${server.url}/v1/auth/me`, { token: server.adminToken })
    server.db
      .query('INSERT INTO members (workspace_id, user_id, role, created_at) VALUES (?, ?, ?, ?)')
      .run(me.body.workspace.id, ada.userId, 'viewer', Date.now())
    await call(`${server.url}/v1/auth/login`, { json: { email: 'ada@example.com', password: 'another horse battery' } })
    for (const token of [server.adminToken, ada.token])
      expect((await newest('user.signed_in', token))?.actor).toEqual({ type: 'user', id: ada.userId, email: 'ada@example.com' })
    expect((await listed('', stranger.token)).map(({ actor }) => actor.email)).not.toContain('ada@example.com')
    expect((await newest('user.registered', stranger.token))?.actor.id).toBe(stranger.userId)
  })

  test('that fail are told to the workspaces of the account, without naming who it was as the account', async () => {
    const bob = await registerTenant(server, 'bob@example.com')
    await call(`${server.url}/v1/auth/login`, { json: { email: 'bob@example.com', password: 'not the password' } })
    const denied = await until('it is told', () => newest('access.denied', bob.token))
    expect(denied).toMatchObject({ status: 'error', actor: { type: 'rest_api' }, target: bob.userId, metadata: { operation: 'login' } })
  })

  test('to an account that does not exist are told in the default workspace', async () => {
    await call(`${server.url}/v1/auth/login`, { json: { email: 'nobody@example.com', password: 'not the password' } })
    const denied = await until('it is told', async () =>
      (await listed('event=access.denied')).find(({ metadata, target }) => metadata.operation === 'login' && target === undefined),
    )
    expect(denied.metadata).toMatchObject({ reason: 'unauthorized' })
  })
})

describe('denied attempts', () => {
  test('of a role that lacks the permission are told with operation and reason', async () => {
    const { secret, id } = await makeKey(server, 'viewer')
    await call(`${server.url}/v1/services`, { json: { type: 'web_service', name: 'no' }, token: secret })
    const denied = await until('it is told', async () => (await listed(`actor=${id}`))[0])
    expect(denied).toMatchObject({
      event: 'access.denied',
      status: 'error',
      actor: { type: 'rest_api', id },
      metadata: { operation: 'createService', method: 'POST', path: '/v1/services', reason: 'forbidden' },
    })
  })

  test('to enter the workspace of others are told in their own', async () => {
    const carol = await registerTenant(server, 'carol@example.com')
    const headers = { 'x-workspace-id': await defaultWorkspaceId(server) }
    await call(`${server.url}/v1/services`, { token: carol.token, headers })
    const denied = await until('it is told', () => newest('access.denied', carol.token))
    expect(denied.metadata).toMatchObject({ operation: 'listServices', reason: 'not_found' })
  })

  test('with a token that is none are told; asking without one is no attempt', async () => {
    const before = (await listed('event=access.denied')).length
    await call(`${server.url}/v1/services`)
    await call(`${server.url}/v1/services`, { token: 'cpk_nobody' })
    await until('it is told', async () => (await listed('event=access.denied')).length === before + 1 || undefined)
    expect(JSON.stringify(await listed())).not.toContain('cpk_nobody')
  })

  test('of the same caller within a minute are one entry', async () => {
    const { secret, id } = await makeKey(server, 'viewer')
    for (let count = 0; count < 20; count++) await call(`${server.url}/v1/api-keys`, { token: secret })
    await until('it is told', async () => (await listed(`actor=${id}`))[0])
    expect(await listed(`actor=${id}`)).toHaveLength(1)
  })
})

describe('nothing is written', () => {
  const count = async () => (await listed()).length

  test('when an answer is given again for the same Idempotency-Key', async () => {
    const options = { token: server.adminToken, json: { type: 'web_service', name: 'once' }, headers: { 'idempotency-key': 'once' } }
    const before = await count()
    expect((await call(`${server.url}/v1/services`, options)).status).toBe(201)
    expect((await call(`${server.url}/v1/services`, options)).headers.get('idempotent-replayed')).toBe('true')
    expect(await count()).toBe(before + 1)
  })

  test('when a request is wrong, or changes nothing', async () => {
    const before = await count()
    await call(`${server.url}/v1/services`, { token: server.adminToken, json: { type: 'web_service', name: 'once' } })
    await call(`${server.url}/v1/services`, { token: server.adminToken, json: { kind: 'unknown' } })
    await call(`${server.url}/v1/services`, { token: server.adminToken })
    await call(`${server.url}/v1/auth/logout`, { method: 'POST' })
    expect(await count()).toBe(before)
  })
})

test('appends of many requests at once follow each other', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `at-once-${index}`)
  await Promise.all(names.map(makeService))
  const entries = await listed('direction=forward')
  expect(entries.map(({ sequence }) => sequence)).toEqual(entries.map((_, index) => index + 1))
  for (const [index, entry] of entries.entries()) if (index > 0) expect(entry.previousHash).toBe(entries[index - 1]?.hash)
})

test('who lacks audit.read may not see it', async () => {
  const { secret } = await makeKey(server, 'developer')
  for (const path of ['', '/export', '/checkpoints'])
    expect((await call(`${server.url}/v1/audit-logs${path}`, { token: secret })).status).toBe(403)
})
