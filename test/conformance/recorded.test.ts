import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createService } from '../support/apps.ts'
import { call, type Reply } from '../support/client.ts'
import { addMember, defaultWorkspaceId } from '../support/members.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { expectError } from './expect-error.ts'

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

describe('what is said of a service is told again', () => {
  interface Shown extends Json {
    id: string
    serviceDetails: Json
  }
  let count = 0
  const create = async (json: Json): Promise<Shown> => {
    const { status, body } = await send<{ service: Shown }>('POST', '/services', { name: `said-${++count}`, ownerId, ...json })
    expect({ status, body: status === 201 ? '' : body }).toEqual({ status: 201, body: '' })
    return body.service
  }
  const native = { buildCommand: 'npm install', startCommand: 'npm start' }

  test('Terraform: a web service as it was recorded', async () => {
    const service = await create({
      autoDeploy: 'yes',
      branch: 'main',
      buildFilter: { ignoredPaths: null, paths: [] },
      envVars: [{ key: 'key1', value: 'val1' }],
      repo: 'https://github.com/render-examples/express-hello-world',
      rootDir: '',
      serviceDetails: {
        envSpecificDetails: native,
        healthCheckPath: '',
        numInstances: 1,
        plan: 'starter',
        preDeployCommand: 'echo hello',
        previews: {},
        region: 'oregon',
        runtime: 'node',
      },
      type: 'web_service',
    })
    expect(service).toMatchObject({
      autoDeploy: 'yes',
      autoDeployTrigger: 'commit',
      branch: 'main',
      repo: 'https://github.com/render-examples/express-hello-world',
      serviceDetails: {
        env: 'node',
        runtime: 'node',
        region: 'oregon',
        envSpecificDetails: { ...native, preDeployCommand: 'echo hello' },
      },
    })
    expect(service).not.toHaveProperty('buildFilter')
    expect(await get(`/services?name=${service.name}&ownerId=${ownerId}&type=web_service`)).toMatchObject({
      body: [{ service: { id: service.id } }],
    })
  })

  test.each([
    [{}, 'no', 'off'],
    [{ autoDeployTrigger: 'commit' }, 'yes', 'commit'],
    [{ autoDeployTrigger: 'checksPass', autoDeploy: null }, 'yes', 'checksPass'],
    [{ autoDeploy: 'no' }, 'no', 'off'],
    [{ autoDeploy: 'no', autoDeployTrigger: 'commit' }, 'yes', 'commit'],
  ])('Terraform: %j reads back as %s, %s', async (sent, autoDeploy, autoDeployTrigger) => {
    expect(await create({ type: 'static_site', ...sent })).toMatchObject({ autoDeploy, autoDeployTrigger })
  })

  test('Terraform: an update keeps what it does not name, and posts a deploy that answers 201', async () => {
    const { id } = await create({ type: 'web_service', repo: 'https://github.com/acme/shop', branch: 'release/1', autoDeploy: 'no' })
    const changes = { buildFilter: { paths: ['src/**'], ignoredPaths: null }, serviceDetails: { previews: {}, healthCheckPath: '' } }
    const { body } = await send<Shown>('PATCH', `/services/${id}`, changes)
    expect(body).toMatchObject({ repo: 'https://github.com/acme/shop', branch: 'release/1', autoDeploy: 'no' })
    expect(body.buildFilter).toEqual({ paths: ['src/**'], ignoredPaths: [] })
    expect((await send<Shown>('PATCH', `/services/${id}`, { autoDeploy: 'yes', branch: 'main' })).body).toMatchObject({
      autoDeployTrigger: 'commit',
      branch: 'main',
      buildFilter: { paths: ['src/**'] },
    })
    expect((await send<Shown>('PATCH', `/services/${id}`, { buildFilter: {} })).body).not.toHaveProperty('buildFilter')
    expect(await send('POST', `/services/${id}/deploys`, {})).toMatchObject({ status: 201, body: { status: 'queued' } })
  })

  test.each(['oregon', 'frankfurt', 'singapore', 'ohio', 'virginia'])('Python SDK: the region %s', async (region) => {
    const { id, serviceDetails } = await create({ type: 'background_worker', serviceDetails: { region, runtime: 'python' } })
    expect(serviceDetails).toMatchObject({ region, runtime: 'python', env: 'python' })
    expect((await get<Shown>(`/services/${id}`)).body.serviceDetails.region).toBe(region)
  })

  test('Python SDK: a region and a runtime that it knows where none was given', async () => {
    const { serviceDetails } = await create({ type: 'cron_job', serviceDetails: { schedule: '0 3 * * *' } })
    expect(serviceDetails).toMatchObject({ region: 'oregon', runtime: 'node', env: 'node' })
    const found = await create({ type: 'private_service' })
    server.db.query("UPDATE services SET detected_runtime = 'bun' WHERE id = ?").run(found.id)
    expect((await get<Shown>(`/services/${found.id}`)).body.serviceDetails.runtime).toBe('node')
    const chosen = await create({ type: 'private_service', serviceDetails: { runtime: 'bun' } })
    expect(chosen.serviceDetails.runtime).toBe('bun')
  })

  test('CLI: services create --from another, and an update with an image of nothing', async () => {
    const { serviceDetails } = await create({ type: 'web_service' })
    const { region, plan, runtime, envSpecificDetails } = serviceDetails
    const { id } = await create({ type: 'web_service', serviceDetails: { region, plan, runtime, envSpecificDetails } })
    const update = { image: { ownerId: '' }, serviceDetails: { runtime, plan: 'starter' } }
    expect(await send('PATCH', `/services/${id}`, update)).toMatchObject({ status: 200, body: { serviceDetails: { plan: 'starter' } } })
  })

  test.each([
    [{ repo: 'https://ada:pa55@github.com/acme/shop' }, '/repo'],
    [{ repo: '--upload-pack=touch /tmp/x' }, '/repo'],
    [{ repo: 'ext::sh -c true' }, '/repo'],
    [{ repo: 'file:///etc' }, '/repo'],
    [{ branch: '--output=/tmp/x' }, '/branch'],
    [{ branch: 'a b' }, '/branch'],
    [{ serviceDetails: { region: 'local' } }, '/serviceDetails/region'],
  ])('but %j is refused', async (sent, path) => {
    const json = { type: 'web_service', name: 'refused', ownerId, ...sent }
    expect(await send('POST', '/services', json)).toMatchObject({ status: 400, body: { details: [{ path }] } })
  })
})

describe('Python SDK: closed lists and absent times', () => {
  test('events that only we have are shown to whoever names them', async () => {
    const id = await createService(server, { name: 'eventful' })
    await send('POST', `/services/${id}/custom-domains`, { name: 'eventful.example.com' })
    await send('POST', `/services/${id}/suspend`)
    const typesOf = async (query: string) => {
      const { body } = await get<{ event: { id: string; type: string } }[]>(`/services/${id}/events?${query}`)
      return body.map(({ event }) => event.type)
    }
    expect(await typesOf('limit=20')).toEqual(['service_suspended'])
    expect(await typesOf('type=custom_domain_added')).toEqual(['custom_domain_added'])
    expect(await typesOf('type=custom_domain_added,service_suspended')).toEqual(['service_suspended', 'custom_domain_added'])
  })

  test('members have roles of Render’s, in upper case', async () => {
    for (const role of ['developer', 'viewer', 'billing']) await addMember(server, ownerId, role)
    await send('POST', '/roles', { name: 'Ops', permissions: ['services.read'] })
    await addMember(server, ownerId, 'Ops')
    const { body } = await get<{ role: string }[]>(`/owners/${ownerId}/members`)
    expect(body.map(({ role }) => role).sort()).toEqual([
      'ADMIN',
      'DEVELOPER',
      'WORKSPACE_BILLING',
      'WORKSPACE_CONTRIBUTOR',
      'WORKSPACE_VIEWER',
    ])
  })

  test('a time that is not yet is left out, and not null', async () => {
    const id = await createService(server, { name: 'timeless' })
    const { body } = await send('POST', `/services/${id}/deploys`, {})
    expect(body).toMatchObject({ status: 'queued', createdAt: expect.stringMatching(/Z$/) })
    for (const name of ['startedAt', 'finishedAt']) expect(body).not.toHaveProperty(name)
  })
})

test.each([17, 40, 60])('a head of %i KiB is refused in the form of every error', async (kib) => {
  const reply = await call(`${server.url}/v1/services`, { token: server.adminToken, headers: { 'x-padding': 'a'.repeat(kib * 1024) } })
  expectError(reply, 'head_too_large')
  expectError(await call(`${server.url}/v1/services?name=${'a'.repeat(kib * 1024)}`), 'head_too_large')
  expect(await get('/services?limit=1')).toMatchObject({ status: 200 })
})
