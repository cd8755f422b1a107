import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Environment, maxEnvironments, maxProjects, type Project } from '../../../../shared/project.ts'
import { createService } from '../../../support/apps.ts'
import { defaultWorkspaceId, registerTenant } from '../../../support/members.ts'
import { asker, environmentNow, makeEnvironment, makeProject } from '../../../support/projects.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
let ask: ReturnType<typeof asker>
beforeAll(async () => {
  server = await startTestServer()
  ask = asker(server)
})
afterAll(() => server.close())

const put = (environmentId: string, ...resourceIds: string[]) => ask(`/environments/${environmentId}/resources`, { json: { resourceIds } })

describe('a project', () => {
  test('comes with its environments, in their order', async () => {
    const environments = [{ name: 'production', protectedStatus: 'protected', networkIsolationEnabled: true }, { name: 'staging' }]
    const { status, body } = await ask<Project>('/projects', { json: { name: 'shop', environments } })
    expect(status).toBe(201)
    expect(body).toMatchObject({ name: 'shop', owner: { id: await defaultWorkspaceId(server), type: 'team' } })
    const [production, staging] = await Promise.all(body.environmentIds.map((id) => environmentNow(server, id)))
    expect(production).toMatchObject({
      name: 'production',
      projectId: body.id,
      protectedStatus: 'protected',
      networkIsolationEnabled: true,
    })
    expect(staging).toMatchObject({ name: 'staging', protectedStatus: 'unprotected', networkIsolationEnabled: false, serviceIds: [] })
  })

  test('is made with all of its environments or not at all', async () => {
    const reply = await ask('/projects', { json: { name: 'half', environments: [{ name: 'a' }, { name: 'b' }, { name: 'a' }] } })
    expect(reply).toMatchObject({ status: 400, body: { details: [{ path: '/environments/2/name' }] } })
    expect((await ask<Project[]>('/projects?name=half')).body).toEqual([])
  })

  test('has a name of its own in the workspace, whatever others have', async () => {
    const { id, name } = await makeProject(server, [])
    const { name: taken } = await makeProject(server, [])
    expect(await ask('/projects', { json: { name } })).toMatchObject({ status: 409 })
    expect(await ask(`/projects/${id}`, { method: 'PATCH', json: { name: taken } })).toMatchObject({ status: 409 })
    expect(await ask(`/projects/${id}`, { method: 'PATCH', json: { name } })).toMatchObject({ status: 200 })
    const { token } = await registerTenant(server, 'other@example.com')
    expect(await ask('/projects', { json: { name }, token })).toMatchObject({ status: 201 })
  })

  test.each(['', ' a', 'a ', 'a/b', 'a\u0000b', 'a\u202eb', 'x'.repeat(64)])('is not named %j', async (name) => {
    expect(await ask('/projects', { json: { name } })).toMatchObject({ status: 400, body: { details: [{ path: '/name' }] } })
    const { id: projectId } = await makeProject(server, [])
    expect(await ask('/environments', { json: { name, projectId } })).toMatchObject({ status: 400 })
  })

  test('goes with its environments, and not while something is in one', async () => {
    const { id, environmentIds } = await makeProject(server, [{ name: 'production' }, { name: 'staging' }])
    const serviceId = await createService(server, { name: 'stays' })
    await put(environmentIds[1] ?? '', serviceId)
    const refused = await ask(`/projects/${id}`, { method: 'DELETE' })
    expect(refused).toMatchObject({ status: 409, body: { message: expect.stringContaining('staging still has 1 service (stays)') } })
    await ask(`/environments/${environmentIds[1]}/resources?resourceIds=${serviceId}`, { method: 'DELETE' })
    expect(await ask(`/projects/${id}`, { method: 'DELETE' })).toMatchObject({ status: 204 })
    for (const gone of environmentIds) expect(await ask(`/environments/${gone}`)).toMatchObject({ status: 404 })
  })

  test('is one of so many', async () => {
    const { workspaceId, token } = await registerTenant(server, 'many@example.com')
    const insert = server.db.query('INSERT INTO projects (id, workspace_id, name, created_at, updated_at) VALUES (?, ?, ?, 1, 1)')
    server.db.transaction(() => {
      for (let index = 0; index < maxProjects; index++) insert.run(`prj-${String(index).padStart(20, '0')}`, workspaceId, `p${index}`)
    })()
    expect(await ask('/projects', { json: { name: 'one more' }, token })).toMatchObject({ status: 409 })
  })

  test('has so many environments', async () => {
    const environments = Array.from({ length: maxEnvironments }, (_, index) => ({ name: `e${index}` }))
    const { id: projectId } = await makeProject(server, environments)
    expect(await ask('/environments', { json: { name: 'one more', projectId } })).toMatchObject({ status: 409 })
    const tooMany = await ask('/projects', { json: { name: 'too many', environments: [...environments, { name: 'one more' }] } })
    expect(tooMany).toMatchObject({ status: 400, body: { details: [{ path: '/environments' }] } })
  })
})

describe('an environment', () => {
  test('has a name of its own in the project', async () => {
    const { id: projectId, environmentIds } = await makeProject(server, [{ name: 'production' }, { name: 'staging' }])
    expect(await ask('/environments', { json: { name: 'staging', projectId } })).toMatchObject({ status: 409 })
    const rename = (name: string) => ask(`/environments/${environmentIds[0]}`, { method: 'PATCH', json: { name } })
    expect(await rename('staging')).toMatchObject({ status: 409 })
    expect(await rename('production')).toMatchObject({ status: 200 })
    expect(await ask('/environments', { json: { name: 'staging', projectId: (await makeProject(server, [])).id } })).toMatchObject({
      status: 201,
    })
  })

  test('goes when what is left in it is being deleted', async () => {
    const environmentId = await makeEnvironment(server)
    const serviceId = await createService(server, { name: 'goes', environmentId })
    expect(await ask(`/environments/${environmentId}`, { method: 'DELETE' })).toMatchObject({ status: 409 })
    expect(await ask(`/services/${serviceId}`, { method: 'DELETE' })).toMatchObject({ status: 204 })
    expect((await environmentNow(server, environmentId)).serviceIds).toEqual([])
    // Its reconciler does not run here, so the row is still there.
    expect(await ask(`/environments/${environmentId}`, { method: 'DELETE' })).toMatchObject({ status: 204 })
  })

  test.each([
    [{ ipAllowList: [{ cidrBlock: '10.0.0.0/8' }] }, '/ipAllowList'],
    [{ colour: 'red' }, '/colour'],
    [{ protectedStatus: 'open' }, '/protectedStatus'],
    [{ networkIsolationEnabled: 'yes' }, '/networkIsolationEnabled'],
  ])('does not take %j', async (more, path) => {
    const { id: projectId } = await makeProject(server, [])
    expect(await ask('/environments', { json: { name: 'staging', projectId, ...more } })).toMatchObject({
      status: 400,
      body: { details: [{ path }] },
    })
    const within = await ask('/projects', { json: { name: 'of such', environments: [{ name: 'staging', ...more }] } })
    expect(within).toMatchObject({ status: 400, body: { details: [{ path: `/environments/0${path}` }] } })
  })
})

describe('lists', () => {
  test('of environments are narrowed by projects, names and times', async () => {
    const [one, other] = [await makeProject(server, [{ name: 'a' }, { name: 'b' }]), await makeProject(server, [{ name: 'a' }])]
    const namesOf = async (query: string) =>
      (await ask<{ environment: Environment }[]>(`/environments?limit=100&${query}`)).body.map(({ environment }) => environment.name).sort()
    expect(await namesOf(`projectId=${one.id},${other.id}`)).toEqual(['a', 'a', 'b'])
    expect(await namesOf(`projectId=${one.id}&projectId=${other.id}&name=a`)).toEqual(['a', 'a'])
    expect(await namesOf(`projectId=${one.id}&createdAfter=2999-01-01T00:00:00Z`)).toEqual([])
    expect(await namesOf('projectId=prj-00000000000000000000')).toEqual([])
  })

  test('of services and disks are narrowed by environments and projects', async () => {
    const { id: projectId, environmentIds } = await makeProject(server, [{ name: 'a' }, { name: 'b' }])
    const [a = '', b = ''] = environmentIds
    const inA = await createService(server, { name: 'in-a', environmentId: a })
    const inB = await createService(server, { name: 'in-b', environmentId: b, type: 'cron_job', serviceDetails: { schedule: '@daily' } })
    await ask('/disks', { json: { serviceId: inA, name: 'of-a', mountPath: '/var/data', sizeGB: 1 } })
    const services = async (query: string) =>
      (await ask<{ service: { id: string } }[]>(`/services?${query}`)).body.map(({ service }) => service.id)
    expect(await services(`environmentId=${a}`)).toEqual([inA])
    expect(await services(`environmentId=${a},${b}&type=cron_job`)).toEqual([inB])
    expect((await services(`projectId=${projectId}`)).sort()).toEqual([inA, inB].sort())
    expect(await services(`projectId=${projectId}&environmentId=${await makeEnvironment(server)}`)).toEqual([])
    const disks = async (query: string) =>
      (await ask<{ disk: { environmentId?: string } }[]>(`/disks?${query}`)).body.map(({ disk }) => disk.environmentId)
    const found = async () => [await disks(`environmentId=${a}`), await disks(`environmentId=${b}`), await disks(`projectId=${projectId}`)]
    expect(await found()).toEqual([[a], [], [a]])
    // The disk is kept, and its service's row goes when nothing of it runs any more.
    await ask(`/services/${inA}`, { method: 'DELETE' })
    server.db.query('DELETE FROM services WHERE id = ?').run(inA)
    expect(await found()).toEqual([[a], [], [a]])
  })
})

test('a service is made in an environment, and says so', async () => {
  const environmentId = await makeEnvironment(server)
  const id = await createService(server, { name: 'placed', environmentId })
  expect((await ask<{ environmentId?: string }>(`/services/${id}`)).body.environmentId).toBe(environmentId)
  expect((await environmentNow(server, environmentId)).serviceIds).toEqual([id])
  const nowhere = await createService(server, { name: 'unplaced', environmentId: null })
  expect((await ask(`/services/${nowhere}`)).body).not.toHaveProperty('environmentId')
  const strange = { type: 'web_service', name: 'strange', environmentId: 'evm-00000000000000000000' }
  expect(await ask('/services', { json: strange })).toMatchObject({ status: 404 })
})
