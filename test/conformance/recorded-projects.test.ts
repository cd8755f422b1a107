import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Environment, Project } from '../../shared/project.ts'
import { createService } from '../support/apps.ts'
import { call, type Reply } from '../support/client.ts'
import { defaultWorkspaceId } from '../support/members.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

/** What Render's own clients send for projects and environments, in the order and form of their recorded exchanges. */
let server: TestServer
let ownerId: string
beforeAll(async () => {
  server = await startTestServer()
  ownerId = await defaultWorkspaceId(server)
})
afterAll(() => server.close())

const send = <T = Record<string, unknown>>(method: string, path: string, json?: unknown): Promise<Reply<T>> =>
  call<T>(`${server.url}/v1${path}`, { method, token: server.adminToken, ...(json === undefined ? {} : { json }) })

test('Terraform: a project with one environment, renamed, with a second one that comes and goes', async () => {
  const body = { environments: [{ name: 'prod', networkIsolationEnabled: false, protectedStatus: 'protected' }], name: 'foo', ownerId }
  const created = await send<Project>('POST', '/projects', body)
  expect(created).toMatchObject({ status: 201, body: { name: 'foo', owner: { id: ownerId, type: 'team' } } })
  const [prod] = created.body.environmentIds
  const read = { id: prod, name: 'prod', projectId: created.body.id, protectedStatus: 'protected', networkIsolationEnabled: false }
  expect(await send('GET', `/environments/${prod}`)).toMatchObject({ status: 200, body: read })
  expect(await send('GET', `/projects/${created.body.id}`)).toMatchObject({ status: 200, body: created.body })

  expect(await send('PATCH', `/projects/${created.body.id}`, { name: 'bar' })).toMatchObject({ status: 200, body: { name: 'bar' } })
  const change = { name: 'production', networkIsolationEnabled: true, protectedStatus: 'unprotected' }
  expect(await send('PATCH', `/environments/${prod}`, change)).toMatchObject({ status: 200, body: change })
  const second = { name: 'staging', networkIsolationEnabled: false, projectId: created.body.id, protectedStatus: 'unprotected' }
  const staging = await send<Environment>('POST', '/environments', second)
  expect(staging).toMatchObject({ status: 201, body: second })
  expect((await send<Project>('GET', `/projects/${created.body.id}`)).body.environmentIds).toEqual([prod, staging.body.id])
  expect(await send('DELETE', `/environments/${staging.body.id}`)).toMatchObject({ status: 204 })
  expect(await send('DELETE', `/projects/${created.body.id}`)).toMatchObject({ status: 204 })
  expect(await send('GET', `/projects/${created.body.id}`)).toMatchObject({ status: 404 })
})

test('Terraform: a service that is put into an environment, moved to another and taken out', async () => {
  const { body } = await send<Project>('POST', '/projects', { environments: [{ name: 'a' }, { name: 'b' }], name: 'moves', ownerId })
  const [a = '', b = ''] = body.environmentIds
  const id = await createService(server, { name: 'moved' })
  const placeOf = async () =>
    (await send<{ service: { environmentId?: string } }[]>('GET', '/services?name=moved')).body[0]?.service.environmentId
  const add = (to: string) => send<Environment>('POST', `/environments/${to}/resources`, { resourceIds: [id] })
  expect(await add(a)).toMatchObject({ status: 201, body: { id: a, serviceIds: [id] } })
  expect(await placeOf()).toBe(a)
  // Between two environments the provider has the id of the service in place of the environment's.
  expect(await send('DELETE', `/environments/${id}/resources?resourceIds=${id}`)).toMatchObject({ status: 204 })
  expect(await add(b)).toMatchObject({ status: 201 })
  expect(await placeOf()).toBe(b)
  expect(await send('DELETE', `/environments/${b}/resources?resourceIds=${id}`)).toMatchObject({ status: 204 })
  expect(await placeOf()).toBeUndefined()
})

test('CLI: services with their projects and environments, asked for together', async () => {
  const { body } = await send<Project>('POST', '/projects', { environments: [{ name: 'a' }], name: 'listed', ownerId })
  const [environmentId = ''] = body.environmentIds
  const id = await createService(server, { name: 'listed', environmentId })
  const projects = await send<{ project: Project }[]>('GET', `/projects?ownerId=${ownerId}&limit=100`)
  const ids = projects.body.map(({ project }) => project.id)
  const environments = await send<{ environment: Environment }[]>('GET', `/environments?projectId=${ids.join()}&limit=100`)
  expect(environments.body.map(({ environment }) => environment)).toContainEqual(
    expect.objectContaining({ serviceIds: [id], projectId: body.id }),
  )
  const named = await send<{ service: { id: string } }[]>('GET', `/services?includePreviews=false&environmentId=${environmentId}&limit=100`)
  expect(named.body.map(({ service }) => service.id)).toEqual([id])
})
