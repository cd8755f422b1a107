import type { Access } from '../../../shared/operation.ts'
import type { OperationId } from '../../../shared/operations/all.ts'
import type { PathIds } from '../../conformance/requests.ts'
import { memberPassword } from '../../support/members.ts'

/** What one operation is to answer. The permission stands here a second time on purpose: who changes it elsewhere must mean it. */
export interface Expected {
  needs: Access
  /** For whoever is let in, on things of their own workspace that were made for this request. */
  status: number
  /** About the account of a person: keys and tokens are refused, whatever they hold. */
  isPersonal?: true
  /** A list that is narrowed: what is out of the caller's scope is left out of it, and not refused. */
  isFilter?: true
  /** About a project or environment in which the confined caller has no service: to them it is not there. */
  isElsewhere?: true
  /** Takes things out of every environment, where whoever is confined to environments has no business. */
  isWayOut?: true
  /** For a key that is let in, where that is another. */
  withKey?: number
  /** Things that the query or body names, beside those of the path. */
  uses?: readonly string[]
  query?(ids: PathIds): string
  json?(ids: PathIds): unknown
}

const service = { query: ({ serviceId = '' }: PathIds) => `?resource=${serviceId}`, uses: ['serviceId'] }
const measured: Expected = { needs: 'metrics.read', status: 200, ...service }
const person = (status: number, more: Omit<Expected, 'needs' | 'status'> = {}): Expected => ({
  needs: 'authenticated',
  status,
  isPersonal: true,
  ...more,
})
const read = (needs: Access): Expected => ({ needs, status: 200 })
const entry = (needs: Access, status: number, more: Omit<Expected, 'needs' | 'status'> = {}): Expected => ({ needs, status, ...more })

/**
 * Every operation, with what it needs and what it answers to who has that, on a server that runs nothing: where something would have to
 * run, the answer is a conflict.
 */
export const expected: Record<OperationId, Expected> = {
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
  listWorkspaceEvents: entry('services.read', 200, { isFilter: true }),
  getEvent: read('services.read'),
  listPlatformEnv: read('services.read'),
  listEnvVars: read('services.read'),
  replaceEnvVars: entry('env.write', 200, { json: () => [{ key: 'A', value: 'x' }] }),
  getEnvVar: read('services.read'),
  setEnvVar: entry('env.write', 200, { json: () => ({ value: 'x' }) }),
  deleteEnvVar: entry('env.write', 204),
  listSecretFiles: read('services.read'),
  replaceSecretFiles: entry('env.write', 200, { json: () => [{ name: 'a.pem', content: 'x' }] }),
  listHeaders: read('services.read'),
  replaceHeaders: entry('services.update', 200, { json: () => [{ path: '/*', name: 'X-Made', value: 'x' }] }),
  listRoutes: read('services.read'),
  replaceRoutes: entry('services.update', 200, { json: () => [{ type: 'redirect', source: '/a', destination: '/b' }] }),
  getNotificationOverrides: read('services.read'),
  updateNotificationOverrides: entry('services.update', 200, { json: () => ({ notificationsToSend: 'none' }) }),
  getUploadLimits: read('deploys.read'),
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
  listDisks: entry('services.read', 200, { isFilter: true, uses: ['diskId'], query: ({ serviceId }) => `?serviceId=${serviceId}` }),
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
  listWebhooks: read('webhooks.manage'),
  createWebhook: entry('webhooks.manage', 201, {
    uses: ['serviceId', 'environmentId', 'projectId'],
    json: ({ serviceId, environmentId, projectId }) => ({
      name: 'made',
      url: 'https://example.com/hooks',
      enabled: false,
      ...(serviceId && { serviceIds: [serviceId] }),
      ...(environmentId && { environmentIds: [environmentId] }),
      ...(projectId && { projectIds: [projectId] }),
    }),
  }),
  getWebhook: read('webhooks.manage'),
  updateWebhook: entry('webhooks.manage', 200, {
    uses: ['serviceId'],
    json: ({ serviceId }) => ({ name: 'renamed', ...(serviceId && { serviceIds: [serviceId] }) }),
  }),
  deleteWebhook: entry('webhooks.manage', 204),
  listWebhookEvents: read('webhooks.manage'),
  testWebhook: read('webhooks.manage'),
  rotateWebhookSecret: read('webhooks.manage'),
  resendWebhookEvents: entry('webhooks.manage', 409, { uses: ['eventId'], json: ({ eventId }) => ({ eventId }) }),
  listProjects: read('services.read'),
  createProject: entry('projects.manage', 201, { json: () => ({ name: `made ${crypto.randomUUID()}` }) }),
  getProject: entry('services.read', 200, { isElsewhere: true }),
  updateProject: entry('projects.manage', 200, { json: () => ({ name: `renamed ${crypto.randomUUID()}` }) }),
  deleteProject: entry('projects.manage', 204),
  listEnvironments: read('services.read'),
  createEnvironment: entry('projects.manage', 201, { uses: ['projectId'], json: ({ projectId }) => ({ projectId, name: 'made' }) }),
  getEnvironment: entry('services.read', 200, { isElsewhere: true }),
  updateEnvironment: entry('projects.manage', 200, { json: () => ({ name: 'renamed' }) }),
  deleteEnvironment: entry('projects.manage', 204),
  addEnvironmentResources: entry('services.update', 201, {
    isElsewhere: true,
    uses: ['serviceId'],
    json: ({ serviceId }) => ({ resourceIds: [serviceId] }),
  }),
  removeEnvironmentResources: entry('services.update', 204, {
    isElsewhere: true,
    isWayOut: true,
    uses: ['serviceId'],
    query: ({ serviceId }) => `?resourceIds=${serviceId}`,
  }),
  listPostgres: read('services.read'),
  listKeyValue: read('services.read'),
  listRedis: read('services.read'),
  listLogs: entry('logs.read', 200, service),
  subscribeLogs: entry('logs.read', 400, service),
  listLogValues: entry('logs.read', 200, { uses: ['serviceId'], query: ({ serviceId }) => `?label=level&resource=${serviceId}` }),
  openShell: entry('shell.open', 409),
  openJobTerminal: { ...entry('jobs.run', 409), query: () => '?startCommand=true' },
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
  queryCpuTarget: measured,
  queryMemoryTarget: measured,
  queryActiveConnections: measured,
  scrapeMetrics: read('metrics.read'),
  listSessions: person(200),
  endSession: person(204),
  endOtherSessions: person(204),
  changePassword: person(400, { json: () => ({ currentPassword: memberPassword, newPassword: memberPassword }) }),
  requestPasswordReset: entry('public', 202, { json: () => ({ email: `${crypto.randomUUID()}@example.com` }) }),
  confirmPasswordReset: entry('public', 404),
  getTwoFactor: person(200),
  beginTwoFactor: person(200, { json: () => ({ password: memberPassword }) }),
  confirmTwoFactor: person(400),
  renewRecoveryCodes: person(409, { json: () => ({ password: memberPassword, otp: '000000' }) }),
  removeTwoFactor: person(409, { json: () => ({ password: memberPassword, otp: '000000' }) }),
  resetMemberPassword: entry('team.manage', 201),
  resetMemberTwoFactor: entry('team.manage', 409),
  listAuthProviders: read('public'),
  beginOAuth: entry('public', 404),
  completeOAuth: entry('public', 404),
  completeOAuthByForm: entry('public', 404),
  finishSignIn: entry('public', 401),
  listIdentities: person(200),
  unlinkIdentity: person(404),
  createDeviceGrant: entry('public', 200),
  redeemDeviceGrant: entry('public', 400),
  refreshDeviceToken: entry('public', 400),
  revokeDeviceToken: entry('public', 204),
  getDeviceRequest: person(404),
  answerDeviceRequest: person(404),
  // A key is of one workspace, so it can be in no other.
  createWorkspace: entry('workspaces.create', 201, { json: () => ({ name: 'made' }), withKey: 403 }),
  getWorkspace: read('workspace.read'),
  updateWorkspace: entry('workspace.manage', 200, { json: () => ({ name: 'Default' }) }),
  listQuotas: read('workspace.read'),
  setQuotas: entry('workspace.manage', 200, { json: () => ({ services: null }) }),
  deleteWorkspace: entry('workspace.manage', 409, { query: () => '?confirm=Default' }),
  listTeamMembers: read('team.read'),
  updateTeamMember: entry('team.manage', 200, { uses: ['emptyRole'], json: ({ emptyRole }) => ({ role: emptyRole }) }),
  removeTeamMember: entry('team.manage', 204),
  leaveTeam: person(204),
  listOwnerMembers: read('team.read'),
  listTeamInvites: read('team.manage'),
  createTeamInvite: entry('team.manage', 201, {
    uses: ['emptyRole'],
    json: ({ emptyRole }) => ({ email: `${crypto.randomUUID()}@example.com`, role: emptyRole }),
  }),
  deleteTeamInvite: entry('team.manage', 204),
  acceptTeamInvite: entry('public', 404, { json: () => ({ token: 'never-given-out', name: 'Somebody', password: memberPassword }) }),
  getApiKey: read('apikeys.manage'),
  createRole: entry('roles.manage', 201, { json: () => ({ name: crypto.randomUUID(), permissions: ['roles.manage'] }) }),
  updateRole: entry('roles.manage', 200, { json: () => ({ description: 'changed' }) }),
  deleteRole: entry('roles.manage', 204),
  listAuditLogs: read('audit.read'),
  listOwnerAuditLogs: read('audit.read'),
  exportAuditLogs: read('audit.read'),
  getAuditCheckpoint: read('audit.read'),
}
