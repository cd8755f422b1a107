import { Type } from '@sinclair/typebox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChecker } from '../../server/http/input/validate.ts'
import type { Operation } from '../../shared/operation.ts'
import { type OperationId, operationIds, operationOf } from '../../shared/operations/all.ts'
import { call, type Reply } from '../support/client.ts'
import { startTestServer } from '../support/server.ts'
import { openSocket } from '../support/socket.ts'
import { type SuccessCase, successCases } from './cases.ts'
import { expectConventions, expectError } from './expect-error.ts'
import { requestOf } from './requests.ts'
import { closed, expectShape } from './shape.ts'
import { makeWorld, type World } from './world.ts'

let world: World
const exercised = new Set<string>()
beforeAll(async () => {
  world = await makeWorld()
})
afterAll(() => world.close())

const sendCase = ({ path, options, isAnonymous }: SuccessCase): Promise<Reply> =>
  call(world.platform.url + path, { ...options, ...(isAnonymous ? {} : { token: world.platform.adminToken }) })

const jsonSuccesses = operationIds.filter((id) => !operationOf(id).webSocket)

test('every operation has its case here', () => {
  expect(Object.keys(successCases).sort()).toEqual([...operationIds].sort())
})

test('a key that the table does not name is noticed, however deep', () => {
  const schema = operationOf('getService').responses[200] ?? Type.Never()
  expect(
    createChecker(closed(schema))
      .problemsOf({ serviceDetails: { extra: 1 } })
      .map(({ path }) => path),
  ).toContain('/serviceDetails/extra')
})

describe.each(jsonSuccesses)('%s', (id) => {
  test('succeeds with the status, headers and shape of its entry', async () => {
    for (const one of await successCases[id](world)) {
      expectSuccess(operationOf(id), one.status, await sendCase(one))
      exercised.add(`${id} ${one.status}`)
    }
  })
})

test('each success status that an operation declares is exercised', () => {
  const missing = operationIds.flatMap((id) =>
    Object.keys(operationOf(id).responses).flatMap((status) => (exercised.has(`${id} ${status}`) ? [] : [`${id} ${status}`])),
  )
  // These have tests of their own below.
  expect(missing).toEqual(['openPostgresTunnel 101', 'subscribeLogs 101', 'openShell 101', 'openJobTerminal 101', 'health 503'])
})

function expectSuccess({ responses, plain }: Operation, status: number, reply: Reply): void {
  expect({ status: reply.status, body: reply.status === status ? '' : reply.body }).toEqual({ status, body: '' })
  expectConventions(reply)
  const schema = responses[status]
  if (schema === undefined || schema === null) {
    expect(schema, 'the status is declared').toBeNull()
    expect(reply.body).toBeUndefined()
    return
  }
  const textType = plain === true ? 'text/plain; version=0.0.4; charset=utf-8' : plain
  expect(reply.headers.get('content-type')).toBe(textType ?? 'application/json; charset=utf-8')
  // Errors that an operation declares are ours; their id is that of the request.
  if (status >= 400) expect(createChecker(closed(schema)).problemsOf(reply.body)).toEqual([])
  else expectShape(schema, reply.body)
}

test.each(['openPostgresTunnel', 'subscribeLogs', 'openShell', 'openJobTerminal'] as const)(
  '%s: the handshake of a holder of the permission is accepted',
  async (id) => {
    const [one] = await successCases[id](world)
    const socket = await openSocket(world.platform.url + one?.path, { authorization: `Bearer ${world.platform.adminToken}` })
    expect(socket.readyState).toBe(WebSocket.OPEN)
    socket.close()
  },
)

test('health: 503 in the same shape when a part is down without which nothing works', async () => {
  const server = await startTestServer({ parts: { ingress: world.platform.context.ingress } })
  server.context.db.close()
  const reply = await call(`${server.url}/api/health`)
  expectSuccess(operationOf('health'), 503, reply)
  expect(reply.body).toMatchObject({ status: 'down', checks: { database: { status: 'down' }, ingress: { status: 'ok' } } })
  await server.close()
})

test('status: a page of its own where HTML is asked for', async () => {
  const reply = await call<string>(`${world.platform.url}/status`, { headers: { accept: 'text/html,*/*' } })
  expect(reply.status).toBe(200)
  expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(reply.headers.get('content-security-policy')).toMatch(/^default-src 'none';.* style-src 'sha256-[^']+';/)
  expect(reply.body).toContain('Everything works')
})

// What is for people has tests of its own: a key is told so before any id is looked at.
const withIds = operationIds.filter((id) => operationOf(id).path.includes(':') && !operationOf(id).usersOnly)

describe.each(withIds)('%s', (id) => {
  test('answers 404 for an id that does not exist', async () => {
    const { path, options } = requestOf(id)
    expectError(await call(world.platform.url + path, { ...options, token: world.platform.adminToken }), 'not_found')
  })

  test('answers 404 when the id is of another workspace, without a hint', async () => {
    const ids = { serviceId: world.serviceId, deployId: world.deployId, eventId: world.eventId, ownerId: world.workspaceId, key: 'VERSION' }
    const { path, options } = requestOf(id, id === 'revokeApiKey' ? { keyId: await world.makeKey() } : ids)
    const theirs = expectError(await call(world.platform.url + path, { ...options, token: world.stranger.token }), 'not_found')
    const unknown = await call(world.platform.url + requestOf(id).path, { ...options, token: world.stranger.token })
    expect(withoutIds(theirs.message)).toBe(withoutIds(expectError(unknown, 'not_found').message))
  })
})

const withoutIds = (text: string): string => text.replace(/[a-z]{3}-[0-9a-v]{20}/g, 'ID').replace(/VERSION|SOME_KEY/g, 'KEY')

test('a deploy of another service of the same workspace is not found under this one', async () => {
  const other = await world.makeService()
  const under = (rest: string) => `${world.platform.url}/v1/services/${other}${rest}`
  const token = world.platform.adminToken
  expectError(await call(under(`/deploys/${world.deployId}`), { token }), 'not_found')
  expectError(await call(under(`/deploys/${world.deployId}/cancel`), { method: 'POST', token }), 'not_found')
})

test('an id of another workspace in a query or body is not found', async () => {
  const { platform, stranger, serviceId, sourceId, deployId } = world
  const theirs = await call<{ service: { id: string } }>(`${platform.url}/v1/services`, {
    json: { type: 'web_service', name: 'theirs' },
    token: stranger.token,
  })
  const ask = (path: string, json?: unknown) =>
    call(platform.url + path, { token: stranger.token, ...(json === undefined ? {} : { json }) })
  const own = `/v1/services/${theirs.body.service.id}`
  expectError(await ask(`/v1/logs?resource=${serviceId}`), 'not_found')
  expectError(await ask(`/v1/logs?resource=${theirs.body.service.id},${serviceId}`), 'not_found')
  expectError(await ask(`/v1/logs/values?label=level&resource=${serviceId}`), 'not_found')
  expectError(await ask(`${own}/deploys`, { sourceId }), 'not_found')
  // Whether the deploy is unknown or nothing is live, the answer is the same for every id.
  const replies = [await ask(`${own}/rollback`, { deployId }), await ask(`${own}/rollback`, { deployId: 'dep-00000000000000000000' })]
  expect(replies[0]?.status).toBe(replies[1]?.status)
  expect([404, 409]).toContain(replies[0]?.status)
})

test.each(operationIds.filter((id) => operationOf(id).access !== 'public'))(
  '%s: another workspace named in X-Workspace-Id is not found',
  async (id: OperationId) => {
    const { path, options } = requestOf(id, { serviceId: world.serviceId, ownerId: world.workspaceId })
    const headers = { ...options.headers, 'x-workspace-id': world.stranger.workspaceId }
    expectError(await call(world.platform.url + path, { ...options, headers, token: world.platform.adminToken }), 'not_found')
  },
)
