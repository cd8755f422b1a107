import { unsubscribeToken } from '../../server/apps/notifications/unsubscribe.ts'
import { domainNamed, markVerified } from '../../server/edge/domains/store.ts'
import type { CertificateUpload } from '../../shared/certificate.ts'
import type { OperationId } from '../../shared/operations/all.ts'
import { packApp, upload } from '../support/apps.ts'
import { makeCertificate } from '../support/certificates.ts'
import { type CallOptions, call } from '../support/client.ts'
import { memberPassword } from '../support/members.ts'
import { testAdmin } from '../support/server.ts'
import { until } from '../support/until.ts'
import { accountCases, asMember } from './accounts.ts'
import { deviceCases } from './devices.ts'
import { makeDisk, makeDiskWithSnapshot } from './disks.ts'
import { envGroupCases } from './env-groups.ts'
import { keyValueCases } from './key-value.ts'
import { oauthCases } from './oauth.ts'
import { postgresCases } from './postgres.ts'
import { previewCases } from './previews.ts'
import { projectCases } from './projects.ts'
import { sourceHostCases } from './source-hosts.ts'
import { teamCases } from './team.ts'
import { webhookCases } from './webhooks.ts'
import type { World } from './world.ts'

/** One request that is to succeed, and the status it is to succeed with. The administrator sends it unless it says otherwise. */
export interface SuccessCase {
  status: number
  path: string
  options?: CallOptions
  isAnonymous?: true
}

export type Prepare = (world: World) => Promise<SuccessCase[]> | SuccessCase[]

const get = (path: string): SuccessCase => ({ status: 200, path })
const send = (method: string, status: number, path: string, json?: unknown): SuccessCase => ({
  status,
  path,
  options: { method, ...(json === undefined ? {} : { json }) },
})
/** What git sends: the type of its body is that of the end of its path. */
const gitRequest = (path: string, raw: string): SuccessCase => {
  const headers = { 'content-type': `application/x-${path.slice(path.lastIndexOf('/') + 1)}-request`, 'git-protocol': 'version=2' }
  return { status: 200, path, options: { raw, headers } }
}
const service = (id: string, rest = ''): string => `/v1/services/${id}${rest}`

/** Questions about the live service, asked when it has been measured, so that answers are not empty. */
const measured =
  (...paths: ((serviceId: string) => string)[]): Prepare =>
  async ({ platform, serviceId }) => {
    await until('the service is measured', () => platform.context.metrics.latest()?.services.has(serviceId))
    return paths.map((path) => get(path(serviceId)))
  }

/** A deploy that is still building when it is to be canceled. */
async function startLongDeploy(world: World): Promise<{ serviceId: string; deployId: string }> {
  const serviceId = await world.makeService({ serviceDetails: { runtime: 'node', envSpecificDetails: { buildCommand: 'sleep 60' } } })
  const { body } = await upload(world.platform, serviceId, await packApp('hello-js'))
  return { serviceId, deployId: body.deployId }
}

/** The path of the hook of a service that has source. */
async function hookPath({ platform, serviceId }: World): Promise<string> {
  const { body } = await call<{ url: string }>(`${platform.url}${service(serviceId, '/deploy-hook')}`, { token: platform.adminToken })
  return new URL(body.url).pathname
}

/** The path of the link that stands in mails to the administrator. */
function unsubscribePath({ platform, workspaceId }: World): string {
  const userId = platform.db.query<{ id: string }, []>('SELECT id FROM users LIMIT 1').get()?.id ?? ''
  return `/v1/notification-settings/unsubscribe/${unsubscribeToken(platform.context.sealer, { userId, workspaceId })}`
}

/** The path of a job just begun. */
async function startJob(world: World, startCommand = 'true'): Promise<string> {
  await world.settled()
  const { platform, serviceId } = world
  const url = `${platform.url}${service(serviceId, '/jobs')}`
  const { body } = await call<{ id: string }>(url, { json: { startCommand }, token: platform.adminToken })
  return service(serviceId, `/jobs/${body.id}`)
}

const cronRuns = (id: string): string => `/v1/cron-jobs/${id}/runs`

const newLabel = (): string => `shop-${crypto.randomUUID()}`

/** The path of a domain just added, by its id or name. */
async function addedDomain({ platform, serviceId }: World, by: 'id' | 'name' = 'id'): Promise<string> {
  const json = { name: `${newLabel()}.example.com` }
  const url = `${platform.url}${service(serviceId, '/custom-domains')}`
  const { body } = await call<[{ id: string; name: string }]>(url, { json, token: platform.adminToken })
  return service(serviceId, `/custom-domains/${body[0][by]}`)
}

/** The path of the certificate of a verified domain, and one that is good for it. */
async function domainToCertify(world: World): Promise<{ path: string; json: CertificateUpload }> {
  const path = await addedDomain(world, 'name')
  const name = path.slice(path.lastIndexOf('/') + 1)
  const { db } = world.platform
  markVerified(db, domainNamed(db, name)?.id ?? '', Date.now())
  const { certificate, privateKey } = await makeCertificate({ names: [name] })
  return { path: `${path}/certificate`, json: { certificate, privateKey } }
}

/** The path of a role just made. */
async function rolePath({ platform }: World): Promise<string> {
  const json = { name: `role ${crypto.randomUUID()}`, description: 'Of a test', permissions: ['services.read', 'deploys.read'] }
  const { body } = await call<{ id: string }>(`${platform.url}/v1/roles`, { json, token: platform.adminToken })
  return `/v1/roles/${body.id}`
}

/** Requests for every operation of the table; the compiler refuses one that is left out. Every status an operation declares occurs. */
export const successCases: Record<OperationId, Prepare> = {
  register: () => [
    {
      ...send('POST', 201, '/v1/auth/register', { email: 'newcomer@example.com', password: memberPassword, workspaceName: 'Ours' }),
      isAnonymous: true,
    },
  ],
  login: () => [{ ...send('POST', 200, '/v1/auth/login', testAdmin), isAnonymous: true }],
  logout: () => [{ ...send('POST', 204, '/v1/auth/logout'), isAnonymous: true }],
  ...accountCases,
  me: () => [get('/v1/auth/me')],
  getUser: () => [get('/v1/users')],
  ...oauthCases,
  ...deviceCases,
  listOwners: () => [get('/v1/owners')],
  getOwner: ({ workspaceId }) => [get(`/v1/owners/${workspaceId}`)],
  ...teamCases,
  createApiKey: () => [send('POST', 201, '/v1/api-keys', { name: 'made', role: 'viewer' })],
  listApiKeys: () => [get('/v1/api-keys')],
  getApiKey: async (world) => [get(`/v1/api-keys/${await world.makeKey()}`)],
  revokeApiKey: async (world) => [send('DELETE', 204, `/v1/api-keys/${await world.makeKey()}`)],
  listPermissions: () => [get('/v1/permissions')],
  getUploadLimits: () => [get('/v1/upload-limits')],
  listRoles: () => [get('/v1/roles')],
  createRole: () => [send('POST', 201, '/v1/roles', { name: 'made', permissions: ['services.read'] })],
  updateRole: async (world) => [send('PATCH', 200, await rolePath(world), { name: 'renamed', permissions: ['logs.read'] })],
  deleteRole: async (world) => [send('DELETE', 204, await rolePath(world))],
  listServices: () => [get('/v1/services')],
  createService: () => [
    send('POST', 201, '/v1/services', { type: 'web_service', name: 'plain' }),
    send('POST', 201, '/v1/services', { type: 'private_service', name: 'private' }),
    send('POST', 201, '/v1/services', { type: 'background_worker', name: 'worker', serviceDetails: { runtime: 'node' } }),
    send('POST', 201, '/v1/services', {
      type: 'cron_job',
      name: 'cron',
      serviceDetails: { schedule: '@daily', timezone: 'Europe/Berlin' },
    }),
    send('POST', 201, '/v1/services', {
      type: 'private_service',
      name: 'with-disk',
      serviceDetails: { disk: { name: 'data', mountPath: '/var/data', sizeGB: 1 } },
    }),
    send('POST', 201, '/v1/services', { type: 'static_site', name: 'site', serviceDetails: { publishPath: 'dist' } }),
  ],
  getService: ({ serviceId }) => [get(service(serviceId))],
  updateService: async (world) => [send('PATCH', 200, service(await world.makeService()), { serviceDetails: { plan: 'starter' } })],
  deleteService: async (world) => [
    send('DELETE', 204, service(await world.makeService())),
    send('DELETE', 204, service(await world.makeService(), '?mode=suspend')),
  ],
  suspendService: async (world) => [send('POST', 202, service(await world.makeService(), '/suspend'))],
  resumeService: async (world) => [send('POST', 202, service(await world.makeService(), '/resume'))],
  restartService: async (world) => {
    await world.settled()
    return [send('POST', 200, service(world.serviceId, '/restart'))]
  },
  scaleService: async (world) => [send('POST', 202, service(await world.makeService(), '/scale'), { numInstances: 2 })],
  listInstances: ({ serviceId }) => [get(service(serviceId, '/instances'))],
  listEvents: ({ serviceId }) => [get(service(serviceId, '/events')), get(service(serviceId, '/events?type=custom_domain_added'))],
  listWorkspaceEvents: ({ serviceId }) => [get('/v1/events'), get(`/v1/events?serviceId=${serviceId}&type=deploy_ended&direction=forward`)],
  listPostgresEvents: ({ postgresId }) => [get(`/v1/postgres/${postgresId}/events`)],
  listKeyValueEvents: ({ keyValueId }) => [get(`/v1/key-value/${keyValueId}/events?type=key_value_available`)],
  getEvent: ({ eventId }) => [get(`/v1/events/${eventId}`)],
  listPlatformEnv: ({ serviceId }) => [get(service(serviceId, '/platform-env'))],
  ...previewCases,
  listEnvVars: ({ serviceId }) => [get(service(serviceId, '/env-vars'))],
  replaceEnvVars: async (world) => [
    send('PUT', 200, service(await world.makeService(), '/env-vars'), [
      { key: 'GIVEN', value: 'x' },
      { key: 'MADE', generateValue: true },
    ]),
  ],
  getEnvVar: ({ serviceId }) => [get(service(serviceId, '/env-vars/VERSION'))],
  setEnvVar: async (world) => [send('PUT', 200, service(await world.makeService(), '/env-vars/ONE'), { value: '1' })],
  deleteEnvVar: async (world) => [
    send('DELETE', 204, service(await world.makeService({ envVars: [{ key: 'ONE', value: '1' }] }), '/env-vars/ONE')),
  ],
  listSecretFiles: ({ serviceId }) => [get(service(serviceId, '/secret-files'))],
  replaceSecretFiles: async (world) => [
    send('PUT', 200, service(await world.makeService(), '/secret-files'), [{ name: 'a.pem', content: 'x' }]),
  ],
  ...envGroupCases,
  listDisks: async (world) => {
    await makeDisk(world)
    return [get('/v1/disks')]
  },
  createDisk: async (world) => [
    send('POST', 201, '/v1/disks', { serviceId: await world.makeService(), name: 'data', mountPath: '/var/data', sizeGB: 1 }),
  ],
  getDisk: async (world) => [get(await makeDisk(world))],
  updateDisk: async (world) => [send('PATCH', 200, await makeDisk(world), { name: 'renamed', sizeGB: 2 })],
  deleteDisk: async (world) => [send('DELETE', 204, await makeDisk(world))],
  listDiskSnapshots: async (world) => [get(`${(await makeDiskWithSnapshot(world)).path}/snapshots`)],
  createDiskSnapshot: async (world) => [send('POST', 201, `${await makeDisk(world)}/snapshots`)],
  restoreDiskSnapshot: async (world) => {
    const { path, snapshotKey } = await makeDiskWithSnapshot(world)
    return [send('POST', 200, `${path}/snapshots/restore`, { snapshotKey })]
  },
  deleteDiskSnapshot: async (world) => {
    const { path, snapshotKey } = await makeDiskWithSnapshot(world)
    return [send('DELETE', 204, `${path}/snapshots/${snapshotKey}`)]
  },
  createJob: async (world) => {
    await world.settled()
    return [
      send('POST', 201, service(world.serviceId, '/jobs'), { startCommand: 'true' }),
      send('POST', 201, service(world.serviceId, '/jobs'), { startCommand: 'echo $HOME | cat', planId: 'starter' }),
    ]
  },
  listJobs: async (world) => {
    await startJob(world)
    return [get(service(world.serviceId, '/jobs')), get(service(world.serviceId, '/jobs?status=succeeded,failed'))]
  },
  getJob: async (world) => [get(await startJob(world))],
  cancelJob: async (world) => [send('POST', 200, `${await startJob(world, 'sleep 60')}/cancel`)],
  runCronJob: async (world) => [send('POST', 200, cronRuns(await world.liveCronJob()))],
  listCronJobRuns: async (world) => {
    const path = cronRuns(await world.liveCronJob())
    await call(world.platform.url + path, { method: 'POST', token: world.platform.adminToken })
    return [get(path), get(`${path}?status=pending,successful`)]
  },
  cancelCronJobRuns: async (world) => {
    const path = cronRuns(await world.liveCronJob())
    await call(world.platform.url + path, { method: 'POST', token: world.platform.adminToken })
    return [send('DELETE', 204, path)]
  },
  listCustomDomains: ({ serviceId }) => [get(service(serviceId, '/custom-domains'))],
  createCustomDomain: ({ serviceId }) => [
    send('POST', 201, service(serviceId, '/custom-domains'), { name: `${newLabel()}.example.com` }),
    send('POST', 201, service(serviceId, '/custom-domains'), { name: `${newLabel()}.co.uk` }),
  ],
  getCustomDomain: async (world) => [get(await addedDomain(world)), get(await addedDomain(world, 'name'))],
  verifyCustomDomain: async (world) => [send('POST', 202, `${await addedDomain(world)}/verify`)],
  deleteCustomDomain: async (world) => [
    send('DELETE', 204, await addedDomain(world)),
    send('DELETE', 204, await addedDomain(world, 'name')),
  ],
  setDomainCertificate: async (world) => {
    const { path, json } = await domainToCertify(world)
    return [send('PUT', 200, path, json)]
  },
  removeDomainCertificate: async (world) => {
    const { path, json } = await domainToCertify(world)
    await call(world.platform.url + path, { method: 'PUT', json, token: world.platform.adminToken })
    return [send('DELETE', 204, path)]
  },
  listHeaders: async (world) => {
    const path = service(await world.makeService({ serviceDetails: { headers: [{ path: '/*', name: 'X-A', value: '1' }] } }), '/headers')
    return [get(path)]
  },
  replaceHeaders: async (world) => [
    send('PUT', 200, service(await world.makeService(), '/headers'), [{ path: '/*', name: 'X-A', value: '1' }]),
  ],
  listRoutes: async (world) => {
    const routes = [{ type: 'redirect', source: '/old', destination: '/new' }]
    return [get(service(await world.makeService({ serviceDetails: { routes } }), '/routes'))]
  },
  replaceRoutes: async (world) => {
    const rules = [{ type: 'rewrite', source: '/*', destination: '/index.html', priority: 0 }]
    return [send('PUT', 200, service(await world.makeService({ type: 'static_site' }), '/routes'), rules)]
  },
  getNotificationOverrides: ({ serviceId }) => [get(`/v1/notification-settings/overrides/services/${serviceId}`)],
  updateNotificationOverrides: async (world) => {
    const path = `/v1/notification-settings/overrides/services/${await world.makeService()}`
    return [send('PATCH', 200, path, {}), send('PATCH', 200, path, { notificationsToSend: 'failure', previewNotificationsEnabled: 'true' })]
  },
  ...projectCases,
  ...webhookCases,
  ...sourceHostCases,
  ...postgresCases,
  ...keyValueCases,
  listPostgres: ({ workspaceId }) => [get(`/v1/postgres?ownerId=${workspaceId}&name=db&includeReplicas=true&suspended=not_suspended`)],
  gitInfoRefs: ({ workspaceId, serviceId }) => [get(`/git/${workspaceId}/${serviceId}.git/info/refs?service=git-upload-pack`)],
  gitUploadPack: ({ workspaceId, serviceId }) => [
    gitRequest(`/git/${workspaceId}/${serviceId}.git/git-upload-pack`, '0014command=ls-refs\n0000'),
  ],
  gitReceivePack: ({ workspaceId, serviceId }) => [gitRequest(`/git/${workspaceId}/${serviceId}.git/git-receive-pack`, '0000')],
  uploadSource: async (world) => {
    const options = { method: 'POST', raw: await packApp('hello-js'), headers: { 'content-type': 'application/gzip' } }
    return [
      { status: 201, path: service(await world.makeService(), '/source/upload'), options },
      { status: 201, path: service(await world.makeService(), '/source/upload?deploy=false'), options },
    ]
  },
  planDeploy: async (world) => {
    const options = { method: 'POST', raw: await packApp('hello-js'), headers: { 'content-type': 'application/gzip' } }
    const settings = 'type=web_service&rootDir=&runtime=node&buildCommand=true&startCommand=node%20server.js&publishPath=public'
    return [
      { status: 200, path: `/v1/deploy-plan?${settings}`, options },
      { status: 200, path: `/v1/deploy-plan?serviceId=${world.serviceId}`, options },
    ]
  },
  listDeploys: ({ serviceId }) => [get(service(serviceId, '/deploys'))],
  createDeploy: async (world) => {
    await world.settled()
    return [
      send('POST', 201, service(world.serviceId, '/deploys')),
      send('POST', 201, service(world.serviceId, '/deploys'), { clearCache: 'clear' }),
    ]
  },
  getDeployHook: ({ serviceId }) => [get(service(serviceId, '/deploy-hook'))],
  rotateDeployHook: async (world) => [send('POST', 200, service(await world.makeService(), '/deploy-hook/rotate'))],
  getDeployKey: ({ serviceId }) => [get(service(serviceId, '/deploy-key'))],
  rotateDeployKey: async (world) => [send('POST', 200, service(await world.makeService(), '/deploy-key/rotate'))],
  forgetHostKeys: ({ serviceId }) => [send('DELETE', 204, service(serviceId, '/deploy-key/host-keys'))],
  callDeployHook: async (world) => [{ ...send('POST', 201, await hookPath(world)), isAnonymous: true }],
  openDeployHook: async (world) => [{ ...get(await hookPath(world)), status: 201, isAnonymous: true }],
  getDeploy: ({ serviceId, deployId }) => [get(service(serviceId, `/deploys/${deployId}`))],
  cancelDeploy: async (world) => {
    const { serviceId, deployId } = await startLongDeploy(world)
    return [send('POST', 200, service(serviceId, `/deploys/${deployId}/cancel`))]
  },
  rollback: async (world) => {
    await world.settled()
    return [
      send('POST', 200, service(world.serviceId, '/rollback'), { dryRun: true }),
      send('POST', 201, service(world.serviceId, '/rollback')),
    ]
  },
  getNotificationSettings: ({ workspaceId }) => [get(`/v1/notification-settings/owners/${workspaceId}`)],
  updateNotificationSettings: ({ workspaceId }) => [
    send('PATCH', 200, `/v1/notification-settings/owners/${workspaceId}`, { notificationsToSend: 'failure', slackUrl: null }),
  ],
  testNotifications: ({ workspaceId }) => [send('POST', 200, `/v1/notification-settings/owners/${workspaceId}/test`)],
  getOwnNotifications: async (world) => [await asMember(world, get('/v1/account/notifications'))],
  updateOwnNotifications: async (world) => [
    await asMember(world, send('PATCH', 200, '/v1/account/notifications', { emailEnabled: false })),
  ],
  unsubscribe: (world) => [{ ...send('POST', 204, unsubscribePath(world)), isAnonymous: true }],
  openUnsubscribe: (world) => [{ ...get(unsubscribePath(world)), status: 303, isAnonymous: true }],
  listServiceUsage: measured(() => '/v1/metrics'),
  getServiceCpu: measured((id) => `/v1/metrics/${id}/cpu`),
  getServiceMemory: measured((id) => `/v1/metrics/${id}/memory`),
  getMetricsHistory: measured(
    (id) => service(id, '/metrics/history'),
    (id) => service(id, '/metrics/history?metric=cpu,http-latency&startTime=2026-01-01T00:00:00Z&resolutionSeconds=3600'),
  ),
  queryCpu: measured(
    (id) => `/v1/metrics/cpu?resource=${id}`,
    (id) => `/v1/metrics/cpu?service=${id}&aggregationMethod=MAX`,
  ),
  queryMemory: measured((id) => `/v1/metrics/memory?resource=${id}&startTime=1767225600`),
  queryHttpRequests: measured(
    (id) => `/v1/metrics/http-requests?resource=${id}`,
    (id) => `/v1/metrics/http-requests?resource=${id}&aggregateBy=statusCode`,
  ),
  queryHttpLatency: measured((id) => `/v1/metrics/http-latency?resource=${id}&quantile=0.5&quantile=0.99`),
  queryBandwidth: measured((id) => `/v1/metrics/bandwidth?resource=${id}`),
  queryInstanceCount: measured((id) => `/v1/metrics/instance-count?resource=${id}`),
  queryCpuLimit: measured((id) => `/v1/metrics/cpu-limit?resource=${id}`),
  queryMemoryLimit: measured((id) => `/v1/metrics/memory-limit?resource=${id}`),
  queryDiskUsage: measured((id) => `/v1/metrics/disk-usage?resource=${id}`),
  queryDiskCapacity: measured((id) => `/v1/metrics/disk-capacity?resource=${id}`),
  queryCpuTarget: measured((id) => `/v1/metrics/cpu-target?resource=${id}`),
  queryMemoryTarget: measured((id) => `/v1/metrics/memory-target?resource=${id}`),
  queryReplicationLag: measured((id) => `/v1/metrics/replication-lag?resource=${id}`),
  queryActiveConnections: measured((id) => `/v1/metrics/active-connections?resource=${id}`),
  scrapeMetrics: measured(() => '/metrics'),
  listLogs: ({ serviceId }) => [
    get(`/v1/logs?resource=${serviceId}&limit=100`),
    get(`/v1/logs?type=request&method=GET&statusCode=5*&host=*.localhost&path=/*&resource=${serviceId}`),
  ],
  subscribeLogs: ({ serviceId }) => [{ status: 101, path: `/v1/logs/subscribe?resource=${serviceId}` }],
  openShell: ({ serviceId }) => [{ status: 101, path: service(serviceId, '/shell?command=true&columns=100&rows=30') }],
  openJobTerminal: ({ serviceId }) => [{ status: 101, path: service(serviceId, '/interactive-jobs?startCommand=true&planId=free') }],
  listLogValues: ({ serviceId }) => [get(`/v1/logs/values?label=instance&resource=${serviceId}`)],
  listAuditLogs: () => [get('/v1/audit-logs'), get('/v1/audit-logs?direction=forward&event=service.created&limit=1000')],
  listOwnerAuditLogs: ({ workspaceId }) => [get(`/v1/owners/${workspaceId}/audit-logs?actor=static_token`)],
  exportAuditLogs: () => [get('/v1/audit-logs/export'), get('/v1/audit-logs/export?fromSequence=3')],
  getAuditCheckpoint: () => [get('/v1/audit-logs/checkpoints')],
  health: () => [{ ...get('/api/health'), isAnonymous: true }],
  status: () => [
    { ...get('/status'), isAnonymous: true },
    { ...get('/status'), isAnonymous: true, options: { headers: { accept: 'application/json' } } },
  ],
}
