import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { recordEvent } from '../../../../server/apps/events/store.ts'
import type { Event } from '../../../../shared/event.ts'
import { addRole } from '../../../support/access.ts'
import { createService } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { addDatastore } from '../../../support/datastores.ts'
import { addEnvironment } from '../../../support/environments.ts'
import { defaultWorkspaceId, makeKey } from '../../../support/members.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
let workspaceId: string
let environmentId: string
let databaseId: string
let count = 0

beforeAll(async () => {
  server = await startTestServer()
  workspaceId = await defaultWorkspaceId(server)
})
afterAll(() => server.close())

beforeEach(() => {
  environmentId = addEnvironment(server, { workspaceId }).environmentId
  databaseId = addDatastore(server, { workspaceId, environmentId, name: `orders-${++count}` })
  recordEvent(server.db, { owner: { id: databaseId, workspaceId }, type: 'postgres_created', now: Date.now() })
})

async function eventsSeen(path: string, token = server.adminToken): Promise<Event[]> {
  const { status, body } = await call<{ event: Event }[]>(server.url + path, { token })
  expect(status).toBe(200)
  return body.map(({ event }) => event)
}

async function confinedKey(scope: readonly string[], role = 'admin'): Promise<string> {
  const { id, secret } = await makeKey(server, role, server.adminToken)
  server.db.query('UPDATE api_keys SET scope = ? WHERE id = ?').run(JSON.stringify(scope), id)
  return secret
}

test('an event of a database has its name and environment, and is found by each', async () => {
  const mine = { serviceId: databaseId, serviceName: `orders-${count}`, environmentId, type: 'postgres_created' }
  for (const path of [
    `/v1/postgres/${databaseId}/events`,
    `/v1/events?serviceId=${databaseId}`,
    `/v1/events?environmentId=${environmentId}`,
    '/v1/events?type=postgres_created&limit=1',
  ])
    expect(await eventsSeen(path)).toMatchObject([mine])
})

test('events of a database that is gone stay', async () => {
  server.db.query('DELETE FROM datastores WHERE id = ?').run(databaseId)
  recordEvent(server.db, { owner: { id: databaseId, workspaceId }, type: 'postgres_deleted', now: Date.now() })
  const [last, first] = await eventsSeen(`/v1/events?serviceId=${databaseId}`)
  expect([last?.serviceName, first?.serviceName]).toEqual([`orders-${count}`, `orders-${count}`])
  expect((await call(`${server.url}/v1/postgres/${databaseId}/events`, { token: server.adminToken })).status).toBe(404)
})

test('who is confined to its environment sees it, and who is confined to services does not', async () => {
  const serviceId = await createService(server, { name: `web-${count}` })
  const [placed, ofService] = [await confinedKey([environmentId]), await confinedKey([serviceId])]
  const [{ id = '' } = {}] = await eventsSeen(`/v1/postgres/${databaseId}/events`)
  expect(await eventsSeen('/v1/events?type=postgres_created', placed)).toMatchObject([{ serviceId: databaseId }])
  expect(await eventsSeen('/v1/events?type=postgres_created', ofService)).toEqual([])
  for (const path of [`/v1/events/${id}`, `/v1/events?serviceId=${databaseId}`, `/v1/postgres/${databaseId}/events`]) {
    expect((await call(server.url + path, { token: placed })).status).toBe(200)
    expect((await call(server.url + path, { token: ofService })).status).toBe(404)
  }
})

test('who may not see datastores sees no events of them', async () => {
  const { secret } = await makeKey(server, addRole({ server, workspaceId }, ['services.read']), server.adminToken)
  const [{ id = '' } = {}] = await eventsSeen(`/v1/postgres/${databaseId}/events`)
  expect((await eventsSeen('/v1/events?limit=100', secret)).filter(({ type }) => type.startsWith('postgres'))).toEqual([])
  expect(await eventsSeen(`/v1/events?environmentId=${environmentId}`, secret)).toEqual([])
  expect((await call(`${server.url}/v1/events/${id}`, { token: secret })).status).toBe(404)
})

test('an id names one kind of datastore', async () => {
  expect((await call(`${server.url}/v1/key-value/${databaseId}/events`, { token: server.adminToken })).status).toBe(404)
})
