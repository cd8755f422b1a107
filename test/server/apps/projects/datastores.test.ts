import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { networkOf } from '../../../../server/apps/private-network/names/network.ts'
import { addRole } from '../../../support/access.ts'
import { createService } from '../../../support/apps.ts'
import { addDatastore } from '../../../support/datastores.ts'
import { defaultWorkspaceId, makeKey, registerTenant } from '../../../support/members.ts'
import { asker, environmentNow, makeEnvironment } from '../../../support/projects.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
let ask: ReturnType<typeof asker>
let workspaceId: string
beforeAll(async () => {
  server = await startTestServer()
  ask = asker(server)
  workspaceId = await defaultWorkspaceId(server)
})
afterAll(() => server.close())

const datastore = (more: Partial<Parameters<typeof addDatastore>[1]> = {}) =>
  addDatastore(server, { workspaceId, isSuspended: true, ...more })
const add = (environmentId: string, id: string, token?: string) =>
  ask(`/environments/${environmentId}/resources`, { json: { resourceIds: [id] }, ...(token !== undefined && { token }) })
const remove = (environmentId: string, id: string) =>
  ask(`/environments/${environmentId}/resources?resourceIds=${id}`, { method: 'DELETE' })
const networkNow = (id: string) => {
  const row = server.db
    .query<{ environmentId: string | null }, [string]>('SELECT environment_id AS environmentId FROM datastores WHERE id = ?')
    .get(id)
  return networkOf(server.db, { workspaceId, environmentId: row?.environmentId ?? null })
}

describe.each([
  ['postgres', 'databasesIds', 'database'],
  ['key_value', 'redisIds', 'key-value store'],
] as const)('a datastore of the kind %s', (kind, field, noun) => {
  test('goes into an environment and its network, and out', async () => {
    const isolated = await makeEnvironment(server, { networkIsolationEnabled: true })
    const id = datastore({ kind })
    expect(await add(isolated, id)).toMatchObject({ status: 201, body: { databasesIds: [], redisIds: [], [field]: [id] } })
    expect(networkNow(id)).toBe(isolated)
    expect(await remove(isolated, id)).toMatchObject({ status: 204 })
    expect((await environmentNow(server, isolated))[field]).toEqual([])
    expect(networkNow(id)).toBe(workspaceId)
  })

  test('keeps its environment from being deleted, until it is being deleted itself', async () => {
    const environmentId = await makeEnvironment(server)
    const id = datastore({ kind, environmentId, name: `kept-${kind}` })
    const deleted = () => ask(`/environments/${environmentId}`, { method: 'DELETE' })
    expect(await deleted()).toMatchObject({ status: 409, body: { message: expect.stringContaining(`1 ${noun} (kept-${kind})`) } })
    server.db.query("UPDATE datastores SET phase = 'deleting' WHERE id = ?").run(id)
    expect(await deleted()).toMatchObject({ status: 204 })
  })

  test('is moved by who may change it, in its own workspace', async () => {
    const environmentId = await makeEnvironment(server)
    const json = { name: 'mover', role: addRole({ server, workspaceId }, ['services.read', 'services.update']) }
    const { secret } = (await ask<{ secret: string }>('/api-keys', { json })).body
    expect(await add(environmentId, datastore({ kind }), secret)).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('datastores.update') },
    })
    const stranger = await registerTenant(server, `${kind}@example.com`)
    expect(await add(environmentId, datastore({ kind, workspaceId: stranger.workspaceId }))).toMatchObject({ status: 404 })
  })

  test('stays in a protected environment', async () => {
    const environmentId = await makeEnvironment(server, { protectedStatus: 'protected' })
    const { secret } = await makeKey(server, 'developer')
    expect(await add(await makeEnvironment(server), datastore({ kind, environmentId }), secret)).toMatchObject({ status: 403 })
  })
})

describe.each([
  ['postgres', 'fromDatabase'],
  ['key_value', 'fromKeyValue'],
] as const)('who has a datastore of the kind %s say a variable', (kind, field) => {
  const pair = async (more: { environmentId?: string } = {}) => {
    const id = datastore({ kind, ...more })
    const serviceId = await createService(server, {
      ...{ name: `user-of-${id}`, type: 'private_service', ...more },
      envVars: [{ key: 'STORE_URL', [field]: { id } }],
    })
    return { id, serviceId, told: { status: 409, body: { message: expect.stringContaining(`(${id}) in its variable STORE_URL`) } } }
  }

  test('is told before one of the two moves into an isolated environment', async () => {
    const isolated = await makeEnvironment(server, { networkIsolationEnabled: true })
    const { id, serviceId, told } = await pair()
    expect(await add(isolated, id)).toMatchObject(told)
    expect(await add(isolated, serviceId)).toMatchObject(told)
    expect(await ask(`/services/${serviceId}`, { method: 'PATCH', json: { environmentId: isolated } })).toMatchObject(told)
    const json = { resourceIds: [id, serviceId] }
    expect(await ask(`/environments/${isolated}/resources`, { json })).toMatchObject({ status: 201 })
    expect(await remove(isolated, id)).toMatchObject(told)
    expect(await ask(`/environments/${isolated}/resources?resourceIds=${id}&force=true`, { method: 'DELETE' })).toMatchObject({
      status: 204,
    })
  })

  test('is told before the environment of one of the two is isolated', async () => {
    const environmentId = await makeEnvironment(server)
    const { id, told } = await pair()
    expect(await add(environmentId, id)).toMatchObject({ status: 201 })
    const isolate = (query = '') =>
      ask(`/environments/${environmentId}${query}`, { method: 'PATCH', json: { networkIsolationEnabled: true } })
    expect(await isolate()).toMatchObject(told)
    expect(await isolate('?force=true')).toMatchObject({ status: 200 })
  })

  test('is told also where an env group has it said', async () => {
    const isolated = await makeEnvironment(server, { networkIsolationEnabled: true })
    const id = datastore({ kind })
    const serviceId = await createService(server, { name: `linked-to-${id}`, type: 'private_service' })
    const json = { name: `group-of-${id}`, envVars: [{ key: 'STORE_URL', [field]: { id } }], serviceIds: [serviceId] }
    expect(await ask('/env-groups', { json })).toMatchObject({ status: 201 })
    expect(await add(isolated, id)).toMatchObject({ status: 409, body: { message: expect.stringContaining('STORE_URL') } })
  })
})

test('a replica that a variable refers to goes where its primary goes, which is told before', async () => {
  const isolated = await makeEnvironment(server, { networkIsolationEnabled: true })
  const [primary, replica] = [datastore({ name: 'orders' }), datastore({ name: 'orders-read' })]
  server.db.query("UPDATE datastores SET primary_id = ?, role = 'replica' WHERE id = ?").run(primary, replica)
  const envVars = [{ key: 'READ_URL', fromDatabase: { id: replica } }]
  await createService(server, { name: 'reader', type: 'private_service', envVars })
  expect(await add(isolated, primary)).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining(`(${replica}) in its variable READ_URL`) },
  })
})
