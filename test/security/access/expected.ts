import type { OperationId } from '../../../shared/api.ts'
import type { Access } from '../../../shared/operation.ts'
import type { PathIds } from '../../conformance/requests.ts'

/** What one operation is to answer. The permission stands here a second time on purpose: who changes it elsewhere must mean it. */
export interface Expected {
  needs: Access
  /** For whoever is let in, on things of their own workspace that were made for this request. */
  status: number
  /** Things that the query or body names, beside those of the path. */
  uses?: readonly string[]
  query?(ids: PathIds): string
  json?(ids: PathIds): unknown
}

const service = { query: ({ serviceId = '' }: PathIds) => `?resource=${serviceId}`, uses: ['serviceId'] }
const measured: Expected = { needs: 'metrics.read', status: 200, ...service }
const read = (needs: Access): Expected => ({ needs, status: 200 })
const entry = (needs: Access, status: number, more: Omit<Expected, 'needs' | 'status'> = {}): Expected => ({ needs, status, ...more })

/**
 * Every operation, with what it needs and what it answers to who has that, on a server that runs nothing: where something would have to
 * run, the answer is a conflict.
 */
export const expected: Partial<Record<OperationId, Expected>> = {
  register: entry('public', 201, { json: () => ({ email: `${crypto.randomUUID()}@example.com`, password: 'another horse battery' }) }),
  login: entry('public', 401),
  logout: entry('public', 204),
  health: read('public'),
  status: read('public'),
  me: read('authenticated'),
  getUser: read('authenticated'),
  listOwners: read('authenticated'),
  getOwner: read('workspace.read'),
  createApiKey: entry('apikeys.manage', 201, { json: ({ emptyRole }) => ({ name: 'made', role: emptyRole }), uses: ['emptyRole'] }),
  listApiKeys: read('apikeys.manage'),
  revokeApiKey: entry('apikeys.manage', 204),
  listPermissions: read('roles.read'),
  listRoles: read('roles.read'),
  listServices: read('services.read'),
  createService: entry('services.create', 201, { json: () => ({ type: 'web_service', name: `made ${crypto.randomUUID()}` }) }),
  getService: read('services.read'),
  updateService: entry('services.update', 200, { json: () => ({ serviceDetails: { plan: 'starter' } }) }),
  deleteService: entry('services.delete', 204),
  suspendService: entry('services.operate', 202),
  resumeService: entry('services.operate', 202),
  restartService: entry('services.operate', 409),
  scaleService: entry('services.operate', 202, { json: () => ({ numInstances: 2 }) }),
  listInstances: read('services.read'),
  listEvents: read('services.read'),
  getEvent: read('services.read'),
  listPlatformEnv: read('services.read'),
  listEnvVars: read('services.read'),
  replaceEnvVars: entry('env.write', 200, { json: () => [{ key: 'A', value: 'x' }] }),
  getEnvVar: read('services.read'),
  setEnvVar: entry('env.write', 200, { json: () => ({ value: 'x' }) }),
  deleteEnvVar: entry('env.write', 204),
  listSecretFiles: read('services.read'),
  replaceSecretFiles: entry('env.write', 200, { json: () => [{ name: 'a.pem', content: 'x' }] }),
  uploadSource: entry('deploys.create', 415),
  listDeploys: read('deploys.read'),
  createDeploy: entry('deploys.create', 201, { uses: ['sourceId'], json: ({ sourceId }) => ({ sourceId }) }),
  getDeploy: read('deploys.read'),
  cancelDeploy: entry('deploys.create', 200),
  rollback: entry('deploys.create', 409, { uses: ['deployId'], json: ({ deployId }) => ({ deployId }) }),
  createJob: entry('jobs.run', 409, { json: () => ({ startCommand: 'true' }) }),
  listJobs: read('services.read'),
  getJob: read('services.read'),
  cancelJob: entry('jobs.run', 200),
  runCronJob: entry('jobs.run', 409),
  listCronJobRuns: read('services.read'),
  cancelCronJobRuns: entry('jobs.run', 204),
  listDisks: entry('services.read', 200, { uses: ['diskId'], query: ({ serviceId }) => `?serviceId=${serviceId}` }),
  createDisk: entry('disks.manage', 201, {
    uses: ['serviceId'],
    json: ({ serviceId }) => ({ serviceId, name: 'data', mountPath: '/var/data', sizeGB: 1 }),
  }),
  getDisk: read('services.read'),
  updateDisk: entry('disks.manage', 200, { json: () => ({ name: 'renamed' }) }),
  deleteDisk: entry('disks.manage', 204),
  listDiskSnapshots: read('services.read'),
  createDiskSnapshot: entry('disks.manage', 201),
  restoreDiskSnapshot: entry('disks.manage', 200, { uses: ['snapshotKey'], json: ({ snapshotKey }) => ({ snapshotKey }) }),
  deleteDiskSnapshot: entry('disks.manage', 204),
  listCustomDomains: read('services.read'),
  createCustomDomain: entry('domains.manage', 201, { json: () => ({ name: `${crypto.randomUUID()}.example.com` }) }),
  getCustomDomain: read('services.read'),
  verifyCustomDomain: entry('domains.manage', 202),
  deleteCustomDomain: entry('domains.manage', 204),
  setDomainCertificate: entry('domains.manage', 409),
  removeDomainCertificate: entry('domains.manage', 204, { uses: ['certificate'] }),
  listLogs: entry('logs.read', 200, service),
  subscribeLogs: entry('logs.read', 400, service),
  listLogValues: entry('logs.read', 200, { uses: ['serviceId'], query: ({ serviceId }) => `?label=level&resource=${serviceId}` }),
  openShell: entry('shell.open', 409),
  listServiceUsage: read('metrics.read'),
  getServiceCpu: read('metrics.read'),
  getServiceMemory: read('metrics.read'),
  getMetricsHistory: read('metrics.read'),
  queryCpu: measured,
  queryMemory: measured,
  queryHttpRequests: measured,
  queryHttpLatency: measured,
  queryBandwidth: measured,
  queryInstanceCount: measured,
  queryCpuLimit: measured,
  queryMemoryLimit: measured,
  scrapeMetrics: read('metrics.read'),
}
