import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ScopeInput } from '../../../../shared/scope.ts'
import { addRole } from '../../../support/access.ts'
import { createService } from '../../../support/apps.ts'
import { makeKey, registerTenant } from '../../../support/members.ts'
import { asker, makeEnvironment, makeProject } from '../../../support/projects.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
let ask: ReturnType<typeof asker>
let developer: string
beforeAll(async () => {
  server = await startTestServer()
  ask = asker(server)
  developer = (await makeKey(server, 'developer')).secret
})
afterAll(() => server.close())

let count = 0
const newService = (environmentId: string | null = null) => createService(server, { name: `svc-${++count}`, environmentId })
const resources = (environmentId: string) => `/environments/${environmentId}/resources`
const placeOf = async (id: string) => (await ask<{ environmentId?: string }>(`/services/${id}`)).body.environmentId

const confinedKey = async (scope: ScopeInput, role = 'developer'): Promise<string> =>
  (await ask<{ secret: string }>('/api-keys', { json: { name: 'confined', role, scope } })).body.secret

describe('what is protected', () => {
  const refusal = { status: 403, body: { message: expect.stringContaining('environments.manage_protected') } }

  test('is made, changed and deleted by holders of the right alone', async () => {
    const { id: projectId, environmentIds } = await makeProject(server, [
      { name: 'production', protectedStatus: 'protected' },
      { name: 'staging' },
    ])
    const [production, staging] = environmentIds
    const as = (token: string) => [
      { path: '/environments', json: { name: 'another', projectId, protectedStatus: 'protected' } },
      { path: '/projects', json: { name: `of ${token.slice(-4)}`, environments: [{ name: 'a', protectedStatus: 'protected' }] } },
      { path: `/environments/${production}`, method: 'PATCH', json: { name: 'live' } },
      { path: `/environments/${production}`, method: 'PATCH', json: { networkIsolationEnabled: true } },
      { path: `/environments/${production}`, method: 'PATCH', json: { protectedStatus: 'unprotected' } },
      { path: `/environments/${staging}`, method: 'PATCH', json: { protectedStatus: 'protected' } },
      { path: `/environments/${production}`, method: 'DELETE' },
      { path: `/projects/${projectId}`, method: 'DELETE' },
    ]
    for (const { path, ...options } of as(developer)) expect(await ask(path, { ...options, token: developer })).toMatchObject(refusal)
    const names = await ask<{ project: { name: string } }[]>(`/projects?name=of ${developer.slice(-4)}`)
    expect(names.body).toEqual([])
    expect(await ask(`/environments/${staging}`, { method: 'PATCH', json: { name: 'test' }, token: developer })).toMatchObject({
      status: 200,
    })
    for (const { path, ...options } of as(server.adminToken)) expect((await ask(path, options)).status).toBeLessThan(300)
  })

  test('keeps its whole workspace from who lacks the right', async () => {
    const { token, workspaceId } = await registerTenant(server, 'owner@example.com')
    const { name } = (await ask<{ name: string }>(`/workspaces/${workspaceId}`, { token })).body
    const remove = (by: string) => ask(`/workspaces/${workspaceId}?confirm=${encodeURIComponent(name)}`, { method: 'DELETE', token: by })
    await ask('/projects', { json: { name: 'shop', environments: [{ name: 'production', protectedStatus: 'protected' }] }, token })
    const json = { name: 'manager', role: addRole({ server, workspaceId }, ['workspace.manage']) }
    const manager = (await ask<{ secret: string }>('/api-keys', { json, token })).body.secret
    expect(await remove(manager)).toMatchObject(refusal)
    expect((await remove(token)).status).toBe(204)
  })

  test('keeps what is in it, and takes in more', async () => {
    const production = await makeEnvironment(server, { protectedStatus: 'protected' })
    const [id, staging] = [await newService(), await makeEnvironment(server)]
    expect(await ask(resources(production), { json: { resourceIds: [id] }, token: developer })).toMatchObject({ status: 201 })
    const ways = [
      { path: resources(staging), json: { resourceIds: [id] } },
      { path: `${resources(production)}?resourceIds=${id}&force=true`, method: 'DELETE' },
      { path: `/services/${id}?force=true`, method: 'PATCH', json: { environmentId: null } },
      { path: `/services/${id}`, method: 'PATCH', json: { environmentId: staging } },
    ]
    for (const { path, ...options } of ways) expect(await ask(path, { ...options, token: developer })).toMatchObject(refusal)
    expect(await placeOf(id)).toBe(production)
    expect(await ask(`/services/${id}`, { method: 'PATCH', json: { environmentId: production }, token: developer })).toMatchObject({
      status: 200,
    })
  })
  test('is not closed, laid asleep or kept from everybody, which counts at once, and is opened by anybody who may change it', async () => {
    const id = await newService(await makeEnvironment(server, { protectedStatus: 'protected' }))
    const set = (serviceDetails: Record<string, unknown>, token: string) =>
      ask(`/services/${id}`, { method: 'PATCH', json: { serviceDetails }, token })
    const ways = [
      { closed: { maintenanceMode: { enabled: true } }, open: { maintenanceMode: { enabled: false } } },
      { closed: { sleep: { mode: 'stop' } }, open: { sleep: { mode: 'off' } } },
      { closed: { ipAllowList: [] }, open: { ipAllowList: [{ cidrBlock: '0.0.0.0/0' }] } },
    ]
    for (const { closed, open } of ways) {
      expect(await set(closed, developer)).toMatchObject(refusal)
      expect((await set(closed, server.adminToken)).status).toBe(200)
      expect((await set({ ...closed, plan: 'starter' }, developer)).status).toBe(200)
      expect((await set(open, developer)).status).toBe(200)
    }
  })
})

describe('who is confined', () => {
  test('to services sees the places of these, and nothing of others', async () => {
    const { id: projectId, environmentIds } = await makeProject(server, [{ name: 'a' }, { name: 'b' }])
    const [a = '', b = ''] = environmentIds
    const [mine] = [await newService(a), await newService(a), await newService(b)]
    const token = await confinedKey({ serviceIds: [mine] })
    expect(await ask(`/projects/${projectId}`, { token })).toMatchObject({ status: 200, body: { environmentIds: [a] } })
    expect(await ask(`/environments/${a}`, { token })).toMatchObject({ status: 200, body: { serviceIds: [mine] } })
    expect(await ask(`/environments/${b}`, { token })).toMatchObject({ status: 404 })
    const listed = await ask<{ environment: { id: string } }[]>('/environments', { token })
    expect(listed.body.map(({ environment }) => environment.id)).toEqual([a])
    expect((await ask<unknown[]>('/projects', { token })).body).toHaveLength(1)
    expect(await ask(resources(a), { json: { resourceIds: [mine] }, token })).toMatchObject({ status: 201 })
    for (const environmentId of [null, b]) {
      const { status } = await ask(`/services/${mine}`, { method: 'PATCH', json: { environmentId }, token })
      expect(status).toBe(environmentId === null ? 403 : 404)
    }
  })

  test('to environments moves from one of them to another, and never further', async () => {
    const [a, b, elsewhere] = [await makeEnvironment(server), await makeEnvironment(server), await makeEnvironment(server)]
    const id = await newService(a)
    const token = await confinedKey({ environmentIds: [a, b] })
    expect(await ask(resources(b), { json: { resourceIds: [id] }, token })).toMatchObject({ status: 201 })
    expect(await ask(resources(elsewhere), { json: { resourceIds: [id] }, token })).toMatchObject({ status: 404 })
    expect(await ask(`${resources(b)}?resourceIds=${id}`, { method: 'DELETE', token })).toMatchObject({ status: 403 })
    expect(await ask(resources(a), { json: { resourceIds: [await newService()] }, token })).toMatchObject({ status: 404 })
    expect(await placeOf(id)).toBe(b)
  })

  test('to environments does not pull a service of their own out of a place that is not', async () => {
    const [mine, others] = [await makeEnvironment(server), await makeEnvironment(server)]
    const id = await newService(others)
    const token = await confinedKey({ environmentIds: [mine], serviceIds: [id] })
    expect(await ask(resources(mine), { json: { resourceIds: [id] }, token })).toMatchObject({ status: 403 })
    expect(await ask(resources(others), { json: { resourceIds: [await newService(mine)] }, token })).toMatchObject({ status: 403 })
  })

  test('to one environment creates there and nowhere else', async () => {
    const [mine, others] = [await makeEnvironment(server), await makeEnvironment(server)]
    const token = await confinedKey({ environmentIds: [mine] })
    const create = (more: Record<string, unknown>) =>
      ask<{ service: { id: string; environmentId?: string } }>('/services', {
        json: { type: 'web_service', name: `svc-${++count}`, ...more },
        token,
      })
    expect(await create({ environmentId: mine })).toMatchObject({ status: 201, body: { service: { environmentId: mine } } })
    expect(await create({})).toMatchObject({ status: 201, body: { service: { environmentId: mine } } })
    expect(await create({ environmentId: others })).toMatchObject({ status: 404 })
  })

  test('to several says in which', async () => {
    const { id: projectId, environmentIds } = await makeProject(server, [{ name: 'a' }, { name: 'b' }])
    const token = await confinedKey({ projectIds: [projectId] })
    const create = (more: Record<string, unknown>) =>
      ask('/services', { json: { type: 'web_service', name: `svc-${++count}`, ...more }, token })
    const refused = await create({})
    expect(refused.status).toBe(403)
    for (const id of environmentIds) expect(refused.body.message).toContain(id)
    expect(await create({ environmentId: environmentIds[1] })).toMatchObject({ status: 201 })
  })

  test('to a project without environments is told so, and not to say which', async () => {
    const { id: projectId, environmentIds } = await makeProject(server, [{ name: 'a' }])
    const token = await confinedKey({ projectIds: [projectId] })
    expect(await ask(`/environments/${environmentIds[0]}`, { method: 'DELETE' })).toMatchObject({ status: 204 })
    const refused = await ask('/services', { json: { type: 'web_service', name: `svc-${++count}` }, token })
    expect(refused).toMatchObject({ status: 403, body: { message: expect.stringContaining('none of your environments is left') } })
  })

  test('is told of services that they do not see by their number alone', async () => {
    const [mine, closed] = [await makeEnvironment(server), await makeEnvironment(server, { networkIsolationEnabled: true })]
    const id = await newService(mine)
    const { name } = (await ask<{ name: string }>(`/services/${id}`)).body
    const user = await createService(server, { name: 'out of sight', envVars: [{ key: 'API', value: `http://${name}` }] })
    const token = await confinedKey({ environmentIds: [mine, closed] })
    const refused = await ask(resources(closed), { json: { resourceIds: [id] }, token })
    expect(refused).toMatchObject({ status: 409, body: { message: expect.stringContaining('1 more') } })
    expect(JSON.stringify(refused.body)).not.toContain(user)
    expect(JSON.stringify(refused.body)).not.toContain('out of sight')
  })

  test('to what is deleted has nothing left', async () => {
    const { id: projectId, environmentIds } = await makeProject(server, [{ name: 'a' }])
    const tokens = [await confinedKey({ projectIds: [projectId] }), await confinedKey({ environmentIds })]
    const id = await newService()
    expect(await ask(`/projects/${projectId}`, { method: 'DELETE' })).toMatchObject({ status: 204 })
    for (const token of tokens) {
      expect((await ask<unknown[]>('/services', { token })).body).toEqual([])
      expect(await ask(`/services/${id}`, { token })).toMatchObject({ status: 404 })
    }
  })
})
