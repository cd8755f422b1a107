import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordEvent } from '../../server/apps/events/store.ts'
import { insertDelivery } from '../../server/apps/webhooks/delivery-store.ts'
import { putIdentity } from '../../server/identity/oauth/identity-store.ts'
import { type ProviderId, providerIds } from '../../shared/oauth.ts'
import { type OperationId, operationIds, operationOf } from '../../shared/operations/all.ts'
import { beginSession } from '../support/access.ts'
import { createService } from '../support/apps.ts'
import { addBackups } from '../support/backups.ts'
import { call } from '../support/client.ts'
import { addDatastore } from '../support/datastores.ts'
import { addMember, defaultWorkspaceId, joinWorkspace, registerTenant, type Tenant } from '../support/members.ts'
import { addRequest } from '../support/previews.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { addGithubApp, addInstallation } from '../support/source-hosts.ts'
import { expectError } from './expect-error.ts'
import { startSourceHosts } from './source-hosts.ts'

async function addPreviews(count: number): Promise<void> {
  for (let number = 1; number <= count; number += 1) {
    addRequest(server, serviceId, { number })
    await put(`preview-values/K${number}`, { value: 'x' })
  }
}

let server: TestServer
let sourceHosts: ReturnType<typeof startSourceHosts>
let member: Tenant
let serviceId: string
let cronJobId: string
let postgresId: string
let keyValueId: string
let webhookId: string
const MANY = 105

beforeAll(async () => {
  sourceHosts = startSourceHosts()
  server = await startTestServer({ env: sourceHosts.env })
  const of = { workspaceId: await defaultWorkspaceId(server) }
  addGithubApp(server, of.workspaceId)
  for (const provider of ['github', 'gitea'] as const) addInstallation(server, { ...of, provider })
  member = await registerTenant(server, 'member@example.com')
  serviceId = await createService(server, { name: 'listed' })
  for (let index = 1; index < MANY; index++) await createService(server, { name: `listed-${index}` })
  const names = Array.from({ length: MANY }, (_, index) => `K${String(index).padStart(3, '0')}`)
  await put(
    'env-vars',
    names.map((key) => ({ key, value: 'x' })),
  )
  await put(
    'secret-files',
    names.slice(0, 5).map((name) => ({ name, content: 'x' })),
  )
  const places = Array.from({ length: 25 }, (_, index) => index)
  await put(
    'headers',
    places.map((place) => ({ path: '/*', name: 'X-Place', value: String(place % 20) })),
  )
  await put(
    'routes',
    places.map((place) => ({ type: 'redirect', source: `/${place % 20}`, destination: '/' })),
  )
  for (const count of [2, 3, 4, 5, 6])
    await call(`${server.url}/v1/services/${serviceId}/scale`, { json: { numInstances: count }, token: server.adminToken })
  addDeploys(6)
  await addPreviews(6)
  await addWebhooks(5)
  cronJobId = await createService(server, { name: 'cron', type: 'cron_job', serviceDetails: { schedule: '@daily' } })
  addJobs(serviceId, { kind: 'one_off', count: 6 })
  addJobs(cronJobId, { kind: 'cron', count: 6 })
  for (let index = 1; index <= 5; index++) await addDisk(`listed-${index}`)
  for (let index = 1; index <= 5; index++) await addProject(index)
  for (let index = 1; index <= 5; index++) await addGroup(index)
  await addPeople(4)
  for (const label of ['a', 'b', 'c', 'd', 'e'])
    await call(`${server.url}/v1/services/${serviceId}/custom-domains`, {
      json: { name: `${label}.example.com` },
      token: server.adminToken,
    })
  for (let index = 0; index < 3; index++) {
    beginSession(server, member.userId)
    server.context.audit.system({ event: 'test.event', workspaceId: member.workspaceId, metadata: { index } })
  }
  for (let index = 0; index < 23; index++)
    recordEvent(server.db, { owner: { workspaceId: member.workspaceId }, type: 'service_deleted', now: Date.now() })
  await addDatastores(5)
  for (const provider of providerIds) linkIdentity(provider)
  for (const name of ['second', 'third']) {
    const other = await registerTenant(server, `${name}@example.com`)
    joinWorkspace(server, { userId: member.userId, workspaceId: other.workspaceId, role: 'viewer' })
  }
})
afterAll(async () => {
  await server.close()
  await sourceHosts.close()
})

const put = (what: string, json: unknown) =>
  call(`${server.url}/v1/services/${serviceId}/${what}`, { method: 'PUT', json, token: server.adminToken })

/** Deploys as the queue leaves them; that it does is tested with a real one elsewhere. */
function addDeploys(count: number): void {
  const insert = server.db.query(
    `INSERT INTO deploys (id, service_id, status, trigger, created_at, updated_at, finished_at) VALUES (?, ?, ?, 'api', ?, ?, ?)`,
  )
  for (let index = 0; index < count; index++) {
    const at = Date.parse('2026-01-01T00:00:00Z') + index * 60_000
    const status = index % 2 === 0 ? 'canceled' : 'build_failed'
    insert.run(`dep-0000000000000000000${index}`, serviceId, status, at, at, at + 30_000)
  }
}

/** Jobs as their reconciler leaves them; that it does is tested with a real one elsewhere. */
function addJobs(ofService: string, { kind, count }: { kind: 'one_off' | 'cron'; count: number }): void {
  const insert = server.db.query(
    `INSERT INTO jobs (id, service_id, kind, phase, triggered_by, created_at, started_at, finished_at) VALUES (?, ?, ?, ?, 'usr', ?, ?, ?)`,
  )
  for (let index = 0; index < count; index++) {
    const at = Date.parse('2026-01-01T00:00:00Z') + index * 60_000
    const letter = kind === 'cron' ? 'c' : 'j'
    insert.run(`job-000000000000000000${letter}${index}`, ofService, kind, index % 2 === 0 ? 'failed' : 'succeeded', at, at, at + 30_000)
  }
}

/** Webhooks, of which the last has been tried as its queue would have. */
async function addWebhooks(count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const json = { name: `hook-${index}`, url: 'https://example.com/hooks', enabled: false }
    const { status, body } = await call<{ id: string }>(`${server.url}/v1/webhooks`, { json, token: server.adminToken })
    expect(status).toBe(201)
    webhookId = body.id
  }
  for (let index = 0; index < count; index++) {
    insertDelivery(server.db, {
      id: `whd-0000000000000000000${index}`,
      webhookId,
      eventId: 'evt-00000000000000000000',
      eventType: 'deploy_ended',
      url: 'https://example.com/hooks',
      body: '{}',
      attempt: index + 1,
      // Several at a time, so that pages have to go by more than the time.
      sentAt: Date.parse('2026-01-01T00:00:00Z') + Math.floor(index / 2),
      durationMs: 1,
      statusCode: 500,
      responseBody: '',
      error: 'It answered 500; only 2xx takes the event.',
    })
  }
}

/** Datastores of both kinds; something has happened to the last of each. */
async function addDatastores(count: number): Promise<void> {
  const workspaceId = await defaultWorkspaceId(server)
  for (let index = 0; index < count; index++) {
    postgresId = addDatastore(server, { workspaceId })
    for (let i = 0; i < 5; i += 1) addBackups(server, { id: postgresId, workspaceId })
    keyValueId = addDatastore(server, { workspaceId, kind: 'key_value' })
    for (let i = 0; i < 5; i += 1) addBackups(server, { id: keyValueId, workspaceId, kind: 'key_value' })
  }
  for (let index = 0; index <= count; index++) {
    recordEvent(server.db, { owner: { id: postgresId, workspaceId }, type: 'postgres_restarted', now: Date.now() })
    recordEvent(server.db, { owner: { id: keyValueId, workspaceId }, type: 'key_value_restarted', now: Date.now() })
  }
}

async function addDisk(serviceName: string): Promise<void> {
  const { body } = await call<{ service: { id: string } }[]>(`${server.url}/v1/services?name=${serviceName}`, { token: server.adminToken })
  const json = { serviceId: body[0]?.service.id, name: 'data', mountPath: '/var/data', sizeGB: 1 }
  expect(await call(`${server.url}/v1/disks`, { json, token: server.adminToken })).toMatchObject({ status: 201 })
}

/** A project with an environment; the first has another one besides. */
async function addProject(index: number): Promise<void> {
  const json = { name: `project-${index}`, environments: [{ name: 'production' }, ...(index === 1 ? [{ name: 'staging' }] : [])] }
  expect(await call(`${server.url}/v1/projects`, { json, token: server.adminToken })).toMatchObject({ status: 201 })
}

async function addGroup(index: number): Promise<void> {
  const json = { name: `group-${index}`, envVars: [{ key: 'A', value: 'x' }] }
  expect(await call(`${server.url}/v1/env-groups`, { json, token: server.adminToken })).toMatchObject({ status: 201 })
}

function linkIdentity(provider: ProviderId): void {
  const { userId } = member
  putIdentity(server.db, { issuer: `https://${provider}.example`, subject: '1', provider, userId, email: null, createdAt: Date.now() })
}

/** Members beside the administrator, and invites. */
async function addPeople(count: number): Promise<void> {
  const workspaceId = await defaultWorkspaceId(server)
  for (let index = 0; index < count; index++) {
    await addMember(server, workspaceId, 'viewer')
    const json = { email: `invited-${index}@example.com`, role: 'viewer' }
    expect(await call(`${server.url}/v1/team-invites`, { json, token: server.adminToken })).toMatchObject({ status: 201 })
  }
}

type Page = Record<string, unknown>[]

interface List {
  path(): string
  /** How many items there are. */
  count: number
  asMember?: true
}

/** Every operation that pages, with a list that has several. */
const lists: Partial<Record<OperationId, List>> = {
  listOwners: { path: () => '/v1/owners', count: 3, asMember: true },
  listSessions: { path: () => '/v1/sessions', count: 4, asMember: true },
  listIdentities: { path: () => '/v1/auth/identities', count: 3, asMember: true },
  // The member has registered and made a key besides.
  listAuditLogs: { path: () => '/v1/audit-logs', count: 5, asMember: true },
  listOwnerAuditLogs: { path: () => `/v1/owners/${member.workspaceId}/audit-logs`, count: 5, asMember: true },
  listRoles: { path: () => '/v1/roles', count: 4 },
  listTeamMembers: { path: () => '/v1/team-members', count: 5 },
  listTeamInvites: { path: () => '/v1/team-invites', count: 4 },
  // The cron job is one more.
  listServices: { path: () => '/v1/services', count: MANY + 1 },
  listEvents: { path: () => `/v1/services/${serviceId}/events`, count: 5 },
  listWorkspaceEvents: { path: () => '/v1/events', count: 23, asMember: true },
  listDeploys: { path: () => `/v1/services/${serviceId}/deploys`, count: 6 },
  listJobs: { path: () => `/v1/services/${serviceId}/jobs`, count: 6 },
  listCronJobRuns: { path: () => `/v1/cron-jobs/${cronJobId}/runs`, count: 6 },
  listDisks: { path: () => '/v1/disks', count: 5 },
  listEnvGroups: { path: () => '/v1/env-groups', count: 5 },
  listProjects: { path: () => '/v1/projects', count: 5 },
  listEnvironments: { path: () => '/v1/environments', count: 6 },
  listSourceHostRepos: { path: () => '/v1/sourcehost/repos', count: 10 },
  listGithubRepos: { path: () => '/v1/github/repos', count: 5 },
  listGiteaRepos: { path: () => '/v1/gitea/repos', count: 5 },
  listWebhooks: { path: () => '/v1/webhooks', count: 5 },
  listWebhookEvents: { path: () => `/v1/webhooks/${webhookId}/events`, count: 5 },
  listEnvVars: { path: () => `/v1/services/${serviceId}/env-vars`, count: MANY },
  listCustomDomains: { path: () => `/v1/services/${serviceId}/custom-domains`, count: 5 },
  listPostgres: { path: () => '/v1/postgres', count: 5 },
  listKeyValue: { path: () => '/v1/key-value', count: 5 },
  listRedis: { path: () => '/v1/redis', count: 5 },
  listPostgresBackups: { path: () => `/v1/postgres/${postgresId}/backups`, count: 5 },
  listKeyValueBackups: { path: () => `/v1/key-value/${keyValueId}/backups`, count: 5 },
  listRedisBackups: { path: () => `/v1/redis/${keyValueId}/backups`, count: 5 },
  listPostgresEvents: { path: () => `/v1/postgres/${postgresId}/events`, count: 6 },
  listKeyValueEvents: { path: () => `/v1/key-value/${keyValueId}/events`, count: 6 },
  listHeaders: { path: () => `/v1/services/${serviceId}/headers`, count: 25 },
  listRoutes: { path: () => `/v1/services/${serviceId}/routes`, count: 25 },
  listPreviews: { path: () => `/v1/services/${serviceId}/previews`, count: 6 },
  listPreviewValues: { path: () => `/v1/services/${serviceId}/preview-values`, count: 6 },
  listSecretFiles: { path: () => `/v1/services/${serviceId}/secret-files`, count: 5 },
}

const paged = operationIds.filter((id) => 'cursor' in (operationOf(id).query?.properties ?? {}))

test('every operation that takes a cursor has its list here', () => {
  expect(Object.keys(lists).sort()).toEqual([...paged].sort())
})

describe.each(Object.entries(lists) as [OperationId, List][])('%s', (_, { path, count, asMember }) => {
  const ask = (query: string) =>
    call<Page>(`${server.url}${path()}${query}`, asMember ? { cookie: member.cookie } : { token: server.adminToken })

  async function walk(limit: number): Promise<string[]> {
    const seen: string[] = []
    for (let query = `?limit=${limit}`; ; ) {
      const { status, body } = await ask(query)
      expect(status).toBe(200)
      expect(body.length).toBeLessThanOrEqual(limit)
      if (body.length === 0) return seen
      for (const { cursor, ...item } of body) seen.push(JSON.stringify(item))
      query = `?limit=${limit}&cursor=${encodeURIComponent(String(body.at(-1)?.cursor))}`
    }
  }

  test('gives every item once and in one order, by whatever pages, until a page is empty', async () => {
    const whole = await walk(100)
    expect(whole.length).toBe(count)
    expect(new Set(whole).size).toBe(count)
    for (const limit of [1, 2, 3, count, count + 1]) expect(await walk(Math.min(limit, 100))).toEqual(whole)
  })

  test('goes on strictly after the item of the cursor', async () => {
    const first = await ask('?limit=2')
    const second = await ask(`?limit=1&cursor=${first.body[0]?.cursor}`)
    expect(second.body).toEqual([first.body[1]])
  })

  test('gives 20 unless asked otherwise, and clamps a larger limit to 100', async () => {
    expect((await ask('')).body.length).toBe(Math.min(count, 20))
    expect((await ask('?limit=100000')).body.length).toBe(Math.min(count, 100))
  })

  test('refuses limits and cursors that are none', async () => {
    for (const query of ['?limit=0', '?limit=-1', '?limit=1.5', '?limit=many']) {
      expect(expectError(await ask(query), 'validation_failed').details?.[0]?.path).toBe('/limit')
    }
    for (const cursor of ['nonsense', 'W10', btoa('[1,2,3]'), btoa('{}'), 'x'.repeat(300)]) {
      expect(expectError(await ask(`?cursor=${cursor}`), 'validation_failed').details?.[0]?.path).toBe('/cursor')
    }
  })
})

describe('filters', () => {
  const namesOf = async (query: string) => {
    const { status, body } = await call<{ service: { name: string } }[]>(`${server.url}/v1/services?limit=100&${query}`, {
      token: server.adminToken,
    })
    expect(status).toBe(200)
    return body.map(({ service }) => service.name).sort()
  }

  test('of services take several values, comma-joined and repeated', async () => {
    expect(await namesOf('name=listed-1,listed-2')).toEqual(['listed-1', 'listed-2'])
    expect(await namesOf('name=listed-1&name=listed-2')).toEqual(['listed-1', 'listed-2'])
    expect(await namesOf('name=listed-1,listed-2&name=listed-3')).toEqual(['listed-1', 'listed-2', 'listed-3'])
    expect(await namesOf('name=nobody')).toEqual([])
  })

  test('of services select by type, runtime, region, suspension and owner', async () => {
    await createService(server, { name: 'a-worker', type: 'background_worker', serviceDetails: { runtime: 'go' } })
    await createService(server, { name: 'a-site', type: 'static_site' })
    const suspended = await createService(server, { name: 'asleep', type: 'private_service' })
    await call(`${server.url}/v1/services/${suspended}/suspend`, { method: 'POST', token: server.adminToken })
    expect(await namesOf('type=background_worker,static_site')).toEqual(['a-site', 'a-worker'])
    expect(await namesOf('env=go')).toEqual(['a-worker'])
    expect(await namesOf('env=go,rust&type=static_site')).toEqual([])
    expect(await namesOf('suspended=suspended')).toEqual(['asleep'])
    expect(await namesOf('suspended=suspended,not_suspended&name=asleep,a-site')).toEqual(['a-site', 'asleep'])
    await createService(server, { name: 'far-away', type: 'background_worker', serviceDetails: { region: 'singapore', runtime: 'rust' } })
    expect(await namesOf('region=singapore,ohio')).toEqual(['far-away'])
    expect(await namesOf('region=virginia')).toEqual([])
    expect(await namesOf('region=oregon&env=node&type=web_service,background_worker&name=listed,a-worker')).toEqual(['listed'])
    expect(await namesOf('environmentId=evm-0b1c2d3e4f5g6h7i8j9k')).toEqual([])
    expect(await namesOf('region=frankfurt,oregon&name=a-site')).toEqual(['a-site'])
    const me = await call<{ workspace: { id: string } }>(`${server.url}/v1/auth/me`, { token: server.adminToken })
    expect(await namesOf(`ownerId=${me.body.workspace.id}&name=a-site`)).toEqual(['a-site'])
  })

  test('of services select by times, in any zone', async () => {
    const { body } = await call<{ createdAt: string }>(`${server.url}/v1/services/${serviceId}`, { token: server.adminToken })
    const at = Date.parse(body.createdAt)
    const around = (offset: number) => encodeURIComponent(new Date(at + offset).toISOString())
    expect(await namesOf(`name=listed&createdAfter=${around(-1)}&createdBefore=${around(1)}`)).toEqual(['listed'])
    expect(await namesOf(`name=listed&createdBefore=${around(0)}`)).toEqual([])
    expect(await namesOf(`name=listed&createdAfter=${around(0)}`)).toEqual([])
    expect(await namesOf(`name=listed&updatedAfter=${encodeURIComponent('2020-01-01T00:00:00+05:00')}`)).toEqual(['listed'])
    expect(await namesOf('name=listed&updatedBefore=2020-01-01T00:00:00Z')).toEqual([])
  })

  test('of deploys select by status and times', async () => {
    const idsOf = async (query: string) => {
      const { body } = await call<{ deploy: { id: string } }[]>(`${server.url}/v1/services/${serviceId}/deploys?${query}`, {
        token: server.adminToken,
      })
      return body.map(({ deploy }) => deploy.id.slice(-1)).join('')
    }
    expect(await idsOf('status=canceled')).toBe('420')
    expect(await idsOf('status=canceled,build_failed')).toBe('543210')
    expect(await idsOf('status=canceled&status=build_failed')).toBe('543210')
    expect(await idsOf('status=live')).toBe('')
    expect(await idsOf('createdAfter=2026-01-01T00:01:00Z&createdBefore=2026-01-01T00:04:00Z')).toBe('32')
    expect(await idsOf('finishedAfter=2026-01-01T00:03:30Z')).toBe('54')
    expect(await idsOf('finishedBefore=2026-01-01T00:01:30.000Z')).toBe('0')
  })

  test('of events select by type and time', async () => {
    const countOf = async (query: string) => {
      const { body } = await call<Page>(`${server.url}/v1/services/${serviceId}/events?${query}`, { token: server.adminToken })
      return body.length
    }
    expect(await countOf('type=instance_count_changed')).toBe(5)
    expect(await countOf('type=plan_changed,deploy_ended')).toBe(0)
    expect(await countOf('startTime=2020-01-01T00:00:00Z&endTime=2021-01-01T00:00:00Z')).toBe(0)
    expect(await countOf('startTime=2020-01-01T00:00:00Z&type=instance_count_changed&type=plan_changed')).toBe(5)
  })

  test('refuse values that are none, naming them', async () => {
    const refused: [string, string][] = [
      ['/v1/services?type=castle', '/type/0'],
      ['/v1/services?env=cobol', '/env/0'],
      ['/v1/services?suspended=maybe', '/suspended/0'],
      ['/v1/services?createdAfter=yesterday', '/createdAfter'],
      ['/v1/services?createdAfter=2026-02-40T25:61:00Z', '/createdAfter'],
      [`/v1/services/${serviceId}/deploys?status=done`, '/status/0'],
      [`/v1/services/${serviceId}/deploys?finishedBefore=2026-13-01T00:00:00Z`, '/finishedBefore'],
      [`/v1/services/${serviceId}/events?startTime=2026-13-01T00:00:00Z`, '/startTime'],
      [`/v1/webhooks/${webhookId}/events?sentAfter=yesterday`, '/sentAfter'],
      ['/v1/logs?startTime=2026-13-01T00:00:00Z', '/startTime'],
      ['/v1/logs?direction=sideways', '/direction'],
      ['/v1/logs?type=secret', '/type/0'],
      ['/v1/logs/values?label=colour', '/label'],
      ['/v1/logs/values', '/label'],
    ]
    for (const [path, pointer] of refused) {
      const { details = [] } = expectError(await call(server.url + path, { token: server.adminToken }), 'validation_failed')
      expect({ path, details: details.map((detail) => detail.path) }).toEqual({ path, details: [pointer] })
    }
  })
})
