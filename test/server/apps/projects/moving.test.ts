import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createService } from '../../../support/apps.ts'
import { idleRoutes } from '../../../support/idle-parts.ts'
import { registerTenant } from '../../../support/members.ts'
import { asker, environmentNow, makeEnvironment } from '../../../support/projects.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
let ask: ReturnType<typeof asker>
let published = 0
beforeAll(async () => {
  const publish = async () => {
    published++
    await idleRoutes.publish()
  }
  server = await startTestServer({ parts: { routes: { ...idleRoutes, publish } } })
  ask = asker(server)
})
afterAll(() => server.close())

let count = 0
const service = (envVars: Record<string, string> = {}, more: Record<string, unknown> = {}) =>
  createService(server, {
    name: `svc-${++count}`,
    type: 'private_service',
    envVars: Object.entries(envVars).map(([key, value]) => ({ key, value })),
    ...more,
  })
const nameOf = async (id: string) => (await ask<{ name: string }>(`/services/${id}`)).body.name
const placeOf = async (id: string) => (await ask<{ environmentId?: string }>(`/services/${id}`)).body.environmentId
const add = (environmentId: string, resourceIds: string[], query = '') =>
  ask(`/environments/${environmentId}/resources${query}`, { json: { resourceIds } })
const remove = (environmentId: string, resourceIds: string[], query = '') =>
  ask(`/environments/${environmentId}/resources?resourceIds=${resourceIds.join()}${query}`, { method: 'DELETE' })
const isolate = (environmentId: string, query = '') =>
  ask(`/environments/${environmentId}${query}`, { method: 'PATCH', json: { networkIsolationEnabled: true } })

describe('services are moved', () => {
  test('into an environment, from there to another, and out', async () => {
    const [first, second] = [await makeEnvironment(server), await makeEnvironment(server)]
    const ids = [await service(), await service()]
    const { status, body } = await add(first, ids)
    expect({ status, body }).toMatchObject({ status: 201, body: { id: first, serviceIds: ids } })
    expect(await add(second, ids.slice(0, 1))).toMatchObject({ status: 201 })
    expect((await environmentNow(server, first)).serviceIds).toEqual(ids.slice(1))
    expect(await remove(second, ids)).toMatchObject({ status: 204 })
    expect([await placeOf(ids[0] ?? ''), await placeOf(ids[1] ?? '')]).toEqual([undefined, first])
  })

  test('by their own settings, null and nothing taking them out', async () => {
    const environmentId = await makeEnvironment(server)
    const id = await service()
    const patch = (json: unknown) => ask<{ environmentId?: string }>(`/services/${id}`, { method: 'PATCH', json })
    expect(await patch({ environmentId })).toMatchObject({ status: 200, body: { environmentId } })
    expect((await patch({ rootDir: 'app' })).body.environmentId).toBe(environmentId)
    for (const none of [null, '']) {
      await patch({ environmentId })
      expect((await patch({ environmentId: none })).body).not.toHaveProperty('environmentId')
    }
    expect(await patch({ environmentId: 'evm-00000000000000000000' })).toMatchObject({ status: 404 })
  })

  test('and keep what others change of them while a request waits', async () => {
    const [closed, id] = [await makeEnvironment(server, { networkIsolationEnabled: true }), await service({}, { type: 'web_service' })]
    const patch = (json: unknown) => ask(`/services/${id}`, { method: 'PATCH', json })
    const [moved, changed] = await Promise.all([
      patch({ environmentId: closed, rootDir: 'app' }),
      patch({ serviceDetails: { maintenanceMode: { enabled: true } } }),
    ])
    expect([moved.status, changed.status]).toEqual([200, 200])
    expect((await ask(`/services/${id}`)).body).toMatchObject({
      environmentId: closed,
      rootDir: 'app',
      serviceDetails: { maintenanceMode: { enabled: true } },
    })
  })

  test('all of them or none', async () => {
    const environmentId = await makeEnvironment(server)
    const id = await service()
    const { token } = await registerTenant(server, 'stranger@example.com')
    const { body } = await ask<{ service: { id: string } }>('/services', { json: { type: 'web_service', name: 'theirs' }, token })
    for (const strange of ['srv-00000000000000000000', 'nonsense', body.service.id])
      expect(await add(environmentId, [id, strange])).toMatchObject({ status: 404 })
    expect(await placeOf(id)).toBeUndefined()
  })

  test('with private names published before the answer', async () => {
    const environmentId = await makeEnvironment(server)
    const id = await service()
    const changes = [() => add(environmentId, [id]), () => isolate(environmentId), () => remove(environmentId, [id])]
    for (const change of changes) {
      const before = published
      expect((await change()).status).toBeLessThan(300)
      expect(published).toBeGreaterThan(before)
    }
  })

  test('and a service in place of the environment changes nothing', async () => {
    const environmentId = await makeEnvironment(server)
    const id = await service({}, { environmentId })
    expect(await remove(id, [id])).toMatchObject({ status: 204 })
    expect(await placeOf(id)).toBe(environmentId)
    expect(await remove(id, ['srv-00000000000000000000'])).toMatchObject({ status: 404 })
    expect(await remove('srv-00000000000000000000', [id])).toMatchObject({ status: 404 })
  })

  test('and disks go with them', async () => {
    const environmentId = await makeEnvironment(server)
    const serviceId = await service()
    const { body } = await ask<{ id: string }>('/disks', { json: { serviceId, name: 'data', mountPath: '/var/data', sizeGB: 1 } })
    const refused = await add(environmentId, [body.id])
    expect(refused).toMatchObject({ status: 404, body: { message: expect.stringContaining('where its service is') } })
  })
})

describe('services that name each other', () => {
  const pair = async (place: Record<string, unknown> = {}) => {
    const api = await service({}, place)
    const web = await service({ API: `http://${await nameOf(api)}:10000` }, place)
    return { api, web }
  }

  test('are told before one of them goes behind a border', async () => {
    const isolated = await makeEnvironment(server, { networkIsolationEnabled: true })
    const { api, web } = await pair()
    for (const id of [api, web]) {
      const refused = await add(isolated, [await service(), id])
      expect(refused).toMatchObject({ status: 409, body: { details: [{ path: '/resourceIds/1' }] } })
      expect(refused.body.message).toContain(`${await nameOf(web)} (${web}) names ${await nameOf(api)} (${api}) in its variable API`)
      expect(refused.body.message).toContain('force=true')
      expect(await placeOf(id)).toBeUndefined()
    }
    expect(await add(isolated, [api], '?force=true')).toMatchObject({ status: 201 })
    expect(await placeOf(api)).toBe(isolated)
  })

  test('go together without a word', async () => {
    const isolated = await makeEnvironment(server, { networkIsolationEnabled: true })
    const { api, web } = await pair()
    expect(await add(isolated, [api, web])).toMatchObject({ status: 201 })
  })

  test('are told before one of them comes out', async () => {
    const isolated = await makeEnvironment(server, { networkIsolationEnabled: true })
    const { api, web } = await pair({ environmentId: isolated })
    expect(await remove(isolated, [api])).toMatchObject({ status: 409, body: { details: [{ path: '/resourceIds/0' }] } })
    const patch = (query = '') => ask(`/services/${web}${query}`, { method: 'PATCH', json: { environmentId: '', rootDir: 'x' } })
    expect(await patch()).toMatchObject({ status: 409, body: { details: [{ path: '/environmentId' }] } })
    expect(await patch('?force=true')).toMatchObject({ status: 200, body: { rootDir: 'x' } })
    expect(await remove(isolated, [api])).toMatchObject({ status: 204 })
  })

  test('are told before a border goes up between them, and not when one goes down', async () => {
    const environmentId = await makeEnvironment(server)
    const { api, web } = await pair()
    await add(environmentId, [web])
    const refused = await isolate(environmentId)
    expect(refused).toMatchObject({ status: 409, body: { details: [{ path: '/networkIsolationEnabled' }] } })
    expect((await environmentNow(server, environmentId)).networkIsolationEnabled).toBe(false)
    expect(await isolate(environmentId, '?force=true')).toMatchObject({ status: 200 })
    expect(await ask(`/environments/${environmentId}`, { method: 'PATCH', json: { networkIsolationEnabled: false } })).toMatchObject({
      status: 200,
    })
    expect(await placeOf(api)).toBeUndefined()
  })

  test('stay together in environments that are not isolated', async () => {
    const { api, web } = await pair()
    expect(await add(await makeEnvironment(server), [api])).toMatchObject({ status: 201 })
    expect(await add(await makeEnvironment(server), [web])).toMatchObject({ status: 201 })
  })

  test('are no more than twenty in what is told, and counted', async () => {
    const isolated = await makeEnvironment(server, { networkIsolationEnabled: true })
    const api = await service()
    for (let index = 0; index < 23; index++) await service({ API_HOST: await nameOf(api) })
    const { body } = await add(isolated, [api])
    expect(body.details).toHaveLength(20)
    expect(body.message).toContain('and 3 more')
  })
})
