import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operationIds, operationOf } from '../../shared/operations/all.ts'
import { permissionNames } from '../../shared/permission.ts'
import { expectError } from '../conformance/expect-error.ts'
import { requestOf } from '../conformance/requests.ts'
import { call } from '../support/client.ts'
import { defaultWorkspaceId, registerTenant, type Tenant } from '../support/members.ts'
import { startTestServer, type TestServer, testStaticToken } from '../support/server.ts'
import { filesWith } from './data-files.ts'

let server: TestServer
let stranger: Tenant
beforeAll(async () => {
  server = await startTestServer()
  stranger = await registerTenant(server, 'stranger@example.com')
})
afterAll(() => server.close())

const me = (token: string) => call(`${server.url}/v1/auth/me`, { token })

describe('S9: the static token', () => {
  test('is an administrator of the first workspace, and of no other', async () => {
    const { body } = await me(testStaticToken)
    expect(body).toMatchObject({
      actor: { type: 'static_token' },
      workspace: { id: await defaultWorkspaceId(server) },
      role: 'admin',
      permissions: permissionNames,
    })
    const headers = { 'x-workspace-id': stranger.workspaceId }
    expectError(await call(`${server.url}/v1/services`, { token: testStaticToken, headers }), 'not_found')
    expectError(await call(`${server.url}/v1/owners/${stranger.workspaceId}`, { token: testStaticToken }), 'not_found')
  })

  test('is taken as a whole only', async () => {
    const flipped = `${testStaticToken.slice(0, -1)}${testStaticToken.endsWith('9') ? '8' : '9'}`
    for (const token of [testStaticToken.slice(0, -1), `${testStaticToken}0`, flipped, testStaticToken.toUpperCase()])
      expectError(await me(token), 'unauthorized')
    expectError(await call(`${server.url}/v1/auth/me`, { headers: { authorization: `Basic ${testStaticToken}` } }), 'unauthorized')
    expectError(await call(`${server.url}/v1/auth/me`, { cookie: `cpd_session=${testStaticToken}` }), 'unauthorized')
    expectError(await call(`${server.url}/v1/auth/me?token=${testStaticToken}`), 'unauthorized')
  })

  test('has the validation of every operation before it like a key', async () => {
    for (const id of operationIds.filter((one) => operationOf(one).body !== undefined && operationOf(one).access !== 'authenticated')) {
      const { path, options } = requestOf(id)
      const { status } = await call(server.url + path, { ...options, json: { noSuchField: true }, token: testStaticToken })
      expect({ id, isRefused: status >= 400 && status < 500 }).toEqual({ id, isRefused: true })
    }
  })

  test('lets an operator back in when every member is gone', async () => {
    const other = await startTestServer()
    other.db.query('DELETE FROM sessions').run()
    other.db.query("UPDATE users SET password_hash = ''").run()
    other.db.query('DELETE FROM members').run()
    const invited = await call(`${other.url}/v1/team-invites`, {
      json: { email: 'back@example.com', role: 'admin' },
      token: other.adminToken,
    })
    expect(invited.status).toBe(201)
    const accepted = await call(`${other.url}/v1/team-invites/accept`, {
      json: { token: invited.body.token, name: 'Back', password: 'another horse battery' },
    })
    expect(accepted.status).toBe(200)
    const log = await call<{ auditLog: { event: string; actor: { type: string; id: string } } }[]>(`${other.url}/v1/audit-logs`, {
      token: other.adminToken,
    })
    expect(log.body.map(({ auditLog: { event, actor } }) => `${event} ${actor.type} ${actor.id}`)).toContain(
      'invite.created rest_api static_token',
    )
    await other.close()
  })

  test('has its own limit of requests, as each key has', async () => {
    const limited = await startTestServer({ env: { CP_RATE_LIMIT: '3' } })
    for (let n = 0; n < 3; n++) expect((await call(`${limited.url}/v1/auth/me`, { token: limited.adminToken })).status).toBe(200)
    expectError(await call(`${limited.url}/v1/auth/me`, { token: limited.adminToken }), 'rate_limited')
    await limited.close()
  })

  test('stands in no file and no line of the log', () => {
    expect(filesWith(server.context.paths.data, [testStaticToken], () => true)).toEqual([])
    expect(server.logged.join('')).not.toContain(testStaticToken)
  })
})
