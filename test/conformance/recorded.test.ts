import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createService } from '../support/apps.ts'
import { call, type Reply } from '../support/client.ts'
import { defaultWorkspaceId } from '../support/members.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

/**
 * Requests of Render's own CLI, Terraform provider, MCP server and Python SDK, in the form in which they send them: bodies as Go's
 * encoder writes them, nulls and empty strings included.
 */
let server: TestServer
let ownerId: string
beforeAll(async () => {
  server = await startTestServer()
  ownerId = await defaultWorkspaceId(server)
})
afterAll(() => server.close())

type Json = Record<string, unknown>

const send = <T = Json>(method: string, path: string, json?: unknown): Promise<Reply<T>> =>
  call<T>(`${server.url}/v1${path}`, { method, token: server.adminToken, ...(json === undefined ? {} : { json }) })
const get = <T = Json>(path: string) => send<T>('GET', path)

describe('null and empty', () => {
  test('in place of lists, as Go writes a slice that was never made', async () => {
    const json = {
      autoDeploy: 'no',
      envVars: null,
      name: 'site-of-nulls',
      ownerId,
      rootDir: '',
      secretFiles: null,
      serviceDetails: { buildCommand: 'true', headers: null, routes: null, ipAllowList: null, previews: {}, publishPath: 'dist' },
      type: 'static_site',
    }
    const { status, body } = await send<{ service: Json & { id: string; serviceDetails: Json } }>('POST', '/services', json)
    expect({ status, message: (body as Json).message }).toEqual({ status: 201, message: undefined })
    expect(body.service.serviceDetails).toMatchObject({ headers: [], routes: [] })
    expect(await send('PATCH', `/services/${body.service.id}`, { serviceDetails: { routes: null } })).toMatchObject({ status: 200 })
  })

  test('as the whole body of PUT env-vars and secret-files: the provider of Terraform without any', async () => {
    const id = await createService(server, { name: 'emptied', envVars: [{ key: 'A', value: '1' }] })
    for (const what of ['env-vars', 'secret-files'])
      expect(await call(`${server.url}/v1/services/${id}/${what}`, { ...nullBody, token: server.adminToken })).toMatchObject({
        status: 200,
        body: [],
      })
    expect((await get(`/services/${id}/env-vars`)).body).toEqual([])
  })

  test.each(['', null])('as the plan of a job (%j), which the CLI sends where none is chosen', async (planId) => {
    const id = await createService(server, { name: `jobs of ${planId === null ? 'null' : 'nothing'}` })
    const { status, body } = await send('POST', `/services/${id}/jobs`, { planId, startCommand: 'true' })
    // Nothing is live, which is the next thing that is looked at.
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'conflict' })
  })

  test('as a cursor: the provider of Terraform asks for the first page by it', async () => {
    for (const path of ['/services', '/disks', '/audit-logs', '/roles'])
      expect(await get(`${path}?cursor=&limit=100`)).toMatchObject({ status: 200 })
  })
})

const nullBody = { method: 'PUT', raw: 'null', headers: { 'content-type': 'application/json' } }

describe('metrics', () => {
  test('take a resolution with a fraction, as Python writes every number', async () => {
    const id = await createService(server, { name: 'measured' })
    for (const resolution of ['60.0', '60', '0.5e2', '90.5']) {
      const { status } = await get(`/metrics/cpu?resource=${id}&resolutionSeconds=${resolution}`)
      expect({ resolution, status }).toEqual({ resolution, status: resolution.includes('e') ? 400 : 200 })
    }
  })
})

describe('what is not there yet', () => {
  test.each([
    ['CLI: every command that resolves a name', '/projects?limit=100'],
    ['CLI: environments of projects', '/environments?limit=100&projectId=prj-0b1c2d3e4f5g6h7i8j9k'],
    ['CLI: services', '/postgres?limit=100'],
    ['CLI: services', '/key-value'],
    ['CLI: a name', '/postgres?name=db'],
    ['Terraform: a name', '/redis?name=cache'],
  ])('%s: %s', async (_, path) => {
    const query = `${path.includes('?') ? '&' : '?'}ownerId=${ownerId}`
    expect(await get(path + query)).toMatchObject({ status: 200, body: [] })
  })

  test.each(['cpu-target', 'memory-target', 'active-connections'])('MCP get_metrics: %s', async (metric) => {
    const id = await createService(server, { name: `measured by ${metric}` })
    const query = `resource=${id}&startTime=2026-11-20T00%3A00%3A00Z&endTime=2026-11-21T00%3A00%3A00Z&resolutionSeconds=60`
    expect(await get(`/metrics/${metric}?${query}`)).toMatchObject({ status: 200, body: [] })
  })

  test('MCP get_metrics: requests by host, path and both', async () => {
    const id = await createService(server, { name: 'asked' })
    for (const filters of ['aggregateBy=host', 'host=a.example.com&path=%2F', 'path=%2Fa&path=%2Fb&aggregateBy=statusCode'])
      for (const metric of ['http-requests', 'http-latency', 'bandwidth', 'cpu'])
        expect(await get(`/metrics/${metric}?resource=${id}&${filters}`)).toMatchObject({ status: 200, body: [] })
  })

  test('CLI: lines of tasks and sandboxes are none, and not all', async () => {
    const id = await createService(server, { name: 'with lines' })
    const line = { timestampMs: Date.now(), resource: id, instance: `${id}-00001`, type: 'app', level: 'info', message: 'a line' } as const
    server.context.logStore.append([line])
    expect((await get<{ logs: unknown[] }>(`/logs?ownerId=${ownerId}&resource=${id}`)).body.logs).toHaveLength(1)
    for (const filter of ['task=tsk-1', 'taskRun=run-1', 'sandbox=sbx-1', 'task=&sandbox=sbx-1']) {
      const { status, body } = await get<{ logs: unknown[]; hasMore: boolean }>(`/logs?ownerId=${ownerId}&resource=${id}&${filter}`)
      expect({ filter, status, logs: body.logs, hasMore: body.hasMore }).toEqual({ filter, status: 200, logs: [], hasMore: false })
      expect((await get(`/logs/values?ownerId=${ownerId}&label=level&resource=${id}&${filter}`)).body).toEqual([])
    }
  })
})

describe('Terraform: what is read of every service', () => {
  test('notification overrides are there from the start, and an empty change changes nothing', async () => {
    const id = await createService(server, { name: 'told of' })
    const path = `/notification-settings/overrides/services/${id}`
    const unset = { serviceId: id, notificationsToSend: 'default', previewNotificationsEnabled: 'default' }
    expect(await get(path)).toMatchObject({ status: 200, body: unset })
    expect(await send('PATCH', path, {})).toMatchObject({ status: 200, body: unset })
    const change = { notificationsToSend: 'failure', previewNotificationsEnabled: 'false' }
    expect(await send('PATCH', path, change)).toMatchObject({ status: 200, body: { serviceId: id, ...change } })
    expect(await send('PATCH', path, { notificationsToSend: 'all' })).toMatchObject({ status: 200 })
    expect((await get(path)).body).toEqual({ serviceId: id, notificationsToSend: 'all', previewNotificationsEnabled: 'false' })
  })

  test('routes and headers of a static site: wrapped in a list, a bare array as the answer to PUT', async () => {
    const id = await createService(server, { name: 'ruled', type: 'static_site' })
    for (const query of ['routes?cursor=&limit=100', 'headers?limit=100'])
      expect(await get(`/services/${id}/${query}`)).toMatchObject({ status: 200, body: [] })
    const rules = [
      { destination: '/b', priority: 1, source: '/a', type: 'redirect' },
      { destination: '/index.html', priority: 0, source: '/*', type: 'rewrite' },
    ]
    const routes = await send<Json[]>('PUT', `/services/${id}/routes`, rules)
    expect(routes).toMatchObject({
      status: 200,
      body: [
        { ...rules[1], priority: 0 },
        { ...rules[0], priority: 1 },
      ],
    })
    const header = { name: 'X-Frame-Options', path: '/*', value: 'sameorigin' }
    const headers = await send<Json[]>('PUT', `/services/${id}/headers`, [header])
    expect(headers).toMatchObject({ status: 200, body: [{ ...header, id: expect.stringMatching(/^hdr-[0-9a-v]{20}$/) }] })
    const listed = await get<{ route: Json; cursor: string }[]>(`/services/${id}/routes?limit=1`)
    expect(listed.body.map(({ route }) => route)).toEqual([routes.body[0]])
    expect(
      (await get<{ route: Json }[]>(`/services/${id}/routes?cursor=${listed.body[0]?.cursor}`)).body.map(({ route }) => route),
    ).toEqual([routes.body[1]])
    expect(await send('PUT', `/services/${id}/routes`, [])).toMatchObject({ status: 200, body: [] })
  })

  test('a log stream of its own is not there, with a message', async () => {
    const id = await createService(server, { name: 'streamed' })
    expect(await get(`/logs/streams/resource/${id}`)).toMatchObject({ status: 404, body: { message: expect.stringMatching(/./) } })
  })
})
