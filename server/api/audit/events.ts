import type { AuditEvents } from '../../identity/audit-log/event.ts'
import type { ApiContext } from '../context.ts'
import {
  diskNow,
  domainNow,
  environmentNow,
  envNow,
  envVarNow,
  groupNow,
  keyNow,
  keyValueNow,
  memberNow,
  notificationsNow,
  overridesNow,
  postgresNow,
  projectNow,
  roleNow,
  secretFilesNow,
  serviceNow,
  webhookNow,
  workspaceNow,
} from './snapshots.ts'

const service = { target: ({ params }: { params: { serviceId: string } }) => params.serviceId }
const ofService = { ...service, read: serviceNow }
const ofDisk = { target: ({ params }: { params: { diskId: string } }) => params.diskId, read: diskNow }
const ofProject = { target: ({ params }: { params: { projectId: string } }) => params.projectId, read: projectNow }
const ofEnvironment = { target: ({ params }: { params: { environmentId: string } }) => params.environmentId, read: environmentNow }
const ofGroup = { target: ({ params }: { params: { envGroupId: string } }) => params.envGroupId, read: groupNow }
const ofRole = { target: ({ params }: { params: { roleId: string } }) => params.roleId, read: roleNow }
const ofMember = { target: ({ params }: { params: { memberId: string } }) => params.memberId, read: memberNow }
const ofWebhook = { target: ({ params }: { params: { webhookId: string } }) => params.webhookId, read: webhookNow }
const ofWorkspace = { target: ({ params }: { params: { ownerId: string } }) => params.ownerId, read: workspaceNow }
const ofPostgres = { target: ({ params }: { params: { postgresId: string } }) => params.postgresId, read: postgresNow }
const ofKeyValue = { target: ({ params }: { params: { keyValueId: string } }) => params.keyValueId, read: keyValueNow }
const made = { target: (_: unknown, reply: { id: string } | undefined) => reply?.id }

export const auditEvents: AuditEvents<ApiContext> = {
  register: { event: 'user.registered', isPersonal: true },
  login: { event: 'user.signed_in', isPersonal: true },
  logout: { event: 'user.signed_out', isPersonal: true, isChange: ({ actor }) => actor !== undefined },

  endSession: { event: 'session.ended', target: ({ params }) => params.sessionId, isPersonal: true },
  endOtherSessions: { event: 'session.others_ended', isPersonal: true },
  changePassword: { event: 'password.changed', isPersonal: true },
  requestPasswordReset: { event: 'password_reset.requested', isPersonal: true },
  confirmPasswordReset: { event: 'password_reset.used', isPersonal: true },
  beginTwoFactor: { event: 'two_factor.begun', isPersonal: true },
  confirmTwoFactor: { event: 'two_factor.enabled', isPersonal: true },
  renewRecoveryCodes: { event: 'two_factor.recovery_codes_renewed', isPersonal: true },
  removeTwoFactor: { event: 'two_factor.disabled', isPersonal: true },
  resetMemberPassword: { event: 'member.password_reset', target: ({ params }) => params.memberId },
  resetMemberTwoFactor: { event: 'member.two_factor_reset', target: ({ params }) => params.memberId },

  // What a device asks for concerns nobody before a user has answered.
  createDeviceGrant: { event: 'device.asked', isChange: () => false },
  answerDeviceRequest: { event: 'device.answered', target: (_, reply) => reply?.client, isPersonal: true },
  redeemDeviceGrant: { event: 'device.signed_in', isPersonal: true },
  refreshDeviceToken: { event: 'device.token_reused', isPersonal: true },
  revokeDeviceToken: { event: 'device.signed_out', isPersonal: true },

  completeOAuth: { event: 'user.signed_in_by_provider', isPersonal: true },
  // The answer is kept for the browser's next request, which is written down.
  completeOAuthByForm: { event: 'user.signed_in_by_provider', isChange: () => false },
  finishSignIn: { event: 'user.signed_in', isPersonal: true },
  unlinkIdentity: { event: 'identity.unlinked', isPersonal: true },

  createApiKey: { event: 'api_key.created', ...made },
  revokeApiKey: { event: 'api_key.revoked', target: ({ params }) => params.keyId, read: keyNow },

  createRole: { event: 'role.created', ...made },
  updateRole: { event: 'role.updated', ...ofRole },
  deleteRole: { event: 'role.deleted', ...ofRole },

  updateTeamMember: { event: 'member.updated', ...ofMember },
  removeTeamMember: { event: 'member.removed', ...ofMember },
  leaveTeam: { event: 'member.left' },
  createTeamInvite: { event: 'invite.created' },
  deleteTeamInvite: { event: 'invite.deleted', target: ({ params }) => params.inviteId },
  acceptTeamInvite: { event: 'invite.accepted' },

  createWorkspace: { event: 'workspace.created', ...made },
  updateWorkspace: { event: 'workspace.updated', ...ofWorkspace },
  setQuotas: { event: 'workspace.quotas_set', target: ({ params }) => params.workspaceId },
  deleteWorkspace: { event: 'workspace.deleted', ...ofWorkspace },

  createService: {
    event: 'service.created',
    target: (_, reply) => reply?.service.id,
  },
  updateService: { event: 'service.updated', ...ofService },
  deleteService: { event: 'service.deleted', ...ofService },
  suspendService: { event: 'service.suspended', ...ofService },
  resumeService: { event: 'service.resumed', ...ofService },
  restartService: { event: 'service.restarted', ...ofService },
  scaleService: { event: 'service.scaled', ...ofService },

  createPreview: { event: 'preview.asked_for', ...service },
  approvePreview: { event: 'preview.approved', ...service },
  deletePreview: { event: 'preview.dismissed', ...service },
  setPreviewValue: { event: 'preview_value.set', ...service },
  deletePreviewValue: { event: 'preview_value.deleted', ...service },

  replaceEnvVars: { event: 'env_vars.replaced', ...service, read: envNow },
  setEnvVar: { event: 'env_var.set', ...service, read: envVarNow },
  deleteEnvVar: { event: 'env_var.deleted', ...service, read: envVarNow },
  replaceSecretFiles: { event: 'secret_files.replaced', ...service, read: secretFilesNow },

  createEnvGroup: { event: 'env_group.created', ...made },
  updateEnvGroup: { event: 'env_group.renamed', ...ofGroup },
  deleteEnvGroup: { event: 'env_group.deleted', ...ofGroup },
  replaceGroupEnvVars: { event: 'env_group.vars_replaced', ...ofGroup },
  setGroupEnvVar: { event: 'env_group.var_set', ...ofGroup },
  deleteGroupEnvVar: { event: 'env_group.var_deleted', ...ofGroup },
  setGroupSecretFile: { event: 'env_group.file_set', ...ofGroup },
  deleteGroupSecretFile: { event: 'env_group.file_deleted', ...ofGroup },
  linkEnvGroup: { event: 'env_group.linked', ...ofGroup },
  unlinkEnvGroup: { event: 'env_group.unlinked', ...ofGroup },

  replaceHeaders: { event: 'service.headers_replaced', ...ofService },
  replaceRoutes: { event: 'service.routes_replaced', ...ofService },
  updateNotificationSettings: { event: 'notification_settings.updated', target: ({ params }) => params.ownerId, read: notificationsNow },
  testNotifications: { event: 'notifications.tested', target: ({ params }) => params.ownerId },
  updateOwnNotifications: { event: 'notifications.chosen' },
  unsubscribe: { event: 'notifications.unsubscribed' },
  updateNotificationOverrides: { event: 'notification_overrides.updated', ...service, read: overridesNow },

  createWebhook: { event: 'webhook.created', ...made },
  updateWebhook: { event: 'webhook.updated', ...ofWebhook },
  deleteWebhook: { event: 'webhook.deleted', ...ofWebhook },
  testWebhook: { event: 'webhook.tested', target: ({ params }) => params.webhookId },
  rotateWebhookSecret: { event: 'webhook.secret_rotated', target: ({ params }) => params.webhookId },
  resendWebhookEvents: { event: 'webhook.resent', target: ({ params }) => params.webhookId },

  planDeploy: { event: 'deploy.planned', isChange: () => false },
  uploadSource: { event: 'source.uploaded', ...service },
  gitUploadPack: { event: 'source.fetched', ...service, isChange: () => false },
  gitReceivePack: { event: 'source.pushed' },
  rotateDeployHook: { event: 'deploy_hook.rotated', ...service },
  rotateDeployKey: { event: 'deploy_key.rotated', ...service },
  forgetHostKeys: { event: 'deploy_key.host_keys_forgotten', ...service },
  connectGitea: { event: 'sourcehost.connected' },
  disconnectSourceHost: { event: 'sourcehost.disconnected', target: ({ params }) => params.installationId },
  completeGithubApp: { event: 'sourcehost.app_created' },
  completeGithubInstall: { event: 'sourcehost.connected' },
  receiveGithubDelivery: { event: 'sourcehost.changed' },
  receiveGiteaDelivery: { event: 'sourcehost.changed' },

  callDeployHook: { event: 'deploy.created' },
  openDeployHook: { event: 'deploy.created' },
  createDeploy: { event: 'deploy.created', ...made },
  cancelDeploy: { event: 'deploy.canceled', target: ({ params }) => params.deployId },
  rollback: {
    event: 'deploy.rolled_back',
    target: ({ params }, reply) => (reply !== undefined && 'id' in reply ? reply.id : params.serviceId),
    isChange: ({ body }: { body?: { dryRun?: boolean } | undefined }) => body?.dryRun !== true,
  },

  createJob: { event: 'job.created', ...made },
  cancelJob: { event: 'job.canceled', target: ({ params }) => params.jobId },
  runCronJob: { event: 'cron_job.triggered', ...service },
  cancelCronJobRuns: { event: 'cron_job.runs_canceled', ...service },

  createDisk: { event: 'disk.created', ...made },
  updateDisk: { event: 'disk.updated', ...ofDisk },
  deleteDisk: { event: 'disk.deleted', ...ofDisk },
  createPostgresCredential: { event: 'postgres_credential.created', ...ofPostgres },
  openPostgresTunnel: { event: 'postgres_tunnel.opened', ...ofPostgres },
  cancelPostgresQuery: { event: 'postgres_query.canceled', ...ofPostgres },
  deletePostgresCredential: { event: 'postgres_credential.deleted', ...ofPostgres },
  createDiskSnapshot: { event: 'disk_snapshot.ordered', ...ofDisk },
  restoreDiskSnapshot: { event: 'disk_snapshot.restored', ...ofDisk },
  deleteDiskSnapshot: { event: 'disk_snapshot.deleted', ...ofDisk },

  createPostgres: { event: 'postgres.created', ...made },
  updatePostgres: { event: 'postgres.updated', ...ofPostgres },
  deletePostgres: { event: 'postgres.deleted', ...ofPostgres },
  suspendPostgres: { event: 'postgres.suspended', ...ofPostgres },
  resumePostgres: { event: 'postgres.resumed', ...ofPostgres },
  createPostgresBackup: { event: 'postgres.backup_requested', ...ofPostgres },
  startPostgresRecovery: { event: 'postgres.recovered', ...ofPostgres },
  createPostgresExport: { event: 'postgres.export_requested', ...ofPostgres },
  downloadPostgresExport: { event: 'postgres.export_downloaded', target: ({ params }) => params.postgresId },
  deletePostgresExport: { event: 'postgres.export_deleted', ...ofPostgres },
  startPostgresImport: { event: 'postgres.import_requested', ...ofPostgres },
  uploadPostgresDump: { event: 'postgres.import_requested', ...ofPostgres },
  cancelPostgresImport: { event: 'postgres.import_canceled', ...ofPostgres },
  failoverPostgres: { event: 'postgres.failed_over', ...ofPostgres },
  rollBackPostgres: { event: 'postgres.rolled_back', ...ofPostgres },
  confirmUpgradedPostgres: { event: 'postgres.upgrade_confirmed', ...ofPostgres },
  restartPostgres: { event: 'postgres.restarted', ...ofPostgres },

  createKeyValue: { event: 'key_value.created', ...made },
  updateKeyValue: { event: 'key_value.updated', ...ofKeyValue },
  deleteKeyValue: { event: 'key_value.deleted', ...ofKeyValue },
  suspendKeyValue: { event: 'key_value.suspended', ...ofKeyValue },
  resumeKeyValue: { event: 'key_value.resumed', ...ofKeyValue },
  restartKeyValue: { event: 'key_value.restarted', ...ofKeyValue },
  rotateKeyValueCredentials: { event: 'key_value.password_rotated', ...ofKeyValue },
  createKeyValueBackup: { event: 'key_value.backup_requested', ...ofKeyValue },
  startKeyValueRecovery: { event: 'key_value.recovered', ...ofKeyValue },
  createRedis: { event: 'key_value.created', ...made },
  updateRedis: { event: 'key_value.updated', ...ofKeyValue },
  deleteRedis: { event: 'key_value.deleted', ...ofKeyValue },
  suspendRedis: { event: 'key_value.suspended', ...ofKeyValue },
  resumeRedis: { event: 'key_value.resumed', ...ofKeyValue },
  restartRedis: { event: 'key_value.restarted', ...ofKeyValue },
  rotateRedisCredentials: { event: 'key_value.password_rotated', ...ofKeyValue },
  createRedisBackup: { event: 'key_value.backup_requested', ...ofKeyValue },
  startRedisRecovery: { event: 'key_value.recovered', ...ofKeyValue },

  createProject: { event: 'project.created', ...made },
  updateProject: { event: 'project.updated', ...ofProject },
  deleteProject: { event: 'project.deleted', ...ofProject },
  createEnvironment: { event: 'environment.created', ...made },
  updateEnvironment: { event: 'environment.updated', ...ofEnvironment },
  deleteEnvironment: { event: 'environment.deleted', ...ofEnvironment },
  addEnvironmentResources: { event: 'environment.resources_added', ...ofEnvironment },
  removeEnvironmentResources: { event: 'environment.resources_removed', ...ofEnvironment },

  createCustomDomain: { event: 'custom_domain.created', target: (_, reply) => reply?.[0]?.id },
  verifyCustomDomain: { event: 'custom_domain.verification_requested', target: ({ params }) => params.domainId, read: domainNow },
  deleteCustomDomain: { event: 'custom_domain.deleted', target: ({ params }) => params.domainId, read: domainNow },
  setDomainCertificate: { event: 'certificate.uploaded', target: ({ params }) => params.domainId, read: domainNow },
  removeDomainCertificate: { event: 'certificate.removed', target: ({ params }) => params.domainId, read: domainNow },

  openJobTerminal: { event: 'job.created', ...service },
  openShell: { event: 'shell.opened', ...service },
}
