import type { Operation } from '../operation.ts'
import { accountOperations } from './account.ts'
import { apiKeyOperations } from './api-keys.ts'
import { auditOperations } from './audit.ts'
import { authOperations } from './auth.ts'
import { backupOperations } from './backups.ts'
import { certificateOperations } from './certificates.ts'
import { deployHookOperations } from './deploy-hooks.ts'
import { deployKeyOperations } from './deploy-keys.ts'
import { deployOperations } from './deploys.ts'
import { deviceOperations } from './device.ts'
import { diskOperations } from './disks.ts'
import { domainOperations } from './domains.ts'
import { edgeRuleOperations } from './edge-rules.ts'
import { envGroupOperations } from './env-groups.ts'
import { environmentOperations } from './environments.ts'
import { eventOperations } from './events.ts'
import { gitOperations } from './git.ts'
import { healthOperations } from './health.ts'
import { jobOperations } from './jobs.ts'
import { keyValueOperations } from './key-value.ts'
import { logOperations } from './logs.ts'
import { metricOperations } from './metrics.ts'
import { notificationOperations } from './notifications.ts'
import { oauthOperations } from './oauth.ts'
import { postgresOperations } from './postgres.ts'
import { postgresCredentialOperations } from './postgres-credentials.ts'
import { postgresInsightOperations } from './postgres-insight.ts'
import { postgresTransferOperations } from './postgres-transfers.ts'
import { postgresTunnelOperations } from './postgres-tunnel.ts'
import { previewOperations } from './previews.ts'
import { projectOperations } from './projects.ts'
import { redisBackupOperations, redisOperations } from './redis.ts'
import { roleOperations } from './roles.ts'
import { serviceSettingOperations } from './service-settings.ts'
import { serviceOperations } from './services.ts'
import { shellOperations } from './shells.ts'
import { sourceHostOperations } from './source-hosts.ts'
import { teamOperations } from './team.ts'
import { webhookOperations } from './webhooks.ts'
import { workspaceOperations } from './workspaces.ts'

/** Source of every route, every entry of the OpenAPI document, every call of cpctl and the conformance and permission tests. */
export const operations = {
  ...authOperations,
  ...accountOperations,
  ...oauthOperations,
  ...deviceOperations,
  ...workspaceOperations,
  ...teamOperations,
  ...apiKeyOperations,
  ...roleOperations,
  ...serviceOperations,
  ...eventOperations,
  ...serviceSettingOperations,
  ...envGroupOperations,
  ...edgeRuleOperations,
  ...notificationOperations,
  ...webhookOperations,
  ...deployOperations,
  ...previewOperations,
  ...deployHookOperations,
  ...deployKeyOperations,
  ...gitOperations,
  ...sourceHostOperations,
  ...jobOperations,
  ...diskOperations,
  ...domainOperations,
  ...projectOperations,
  ...environmentOperations,
  ...postgresOperations,
  ...postgresCredentialOperations,
  ...postgresInsightOperations,
  ...postgresTransferOperations,
  ...postgresTunnelOperations,
  ...backupOperations,
  ...keyValueOperations,
  ...redisOperations,
  ...redisBackupOperations,
  ...certificateOperations,
  ...logOperations,
  ...metricOperations,
  ...shellOperations,
  ...auditOperations,
  ...healthOperations,
}

export type Operations = typeof operations
export type OperationId = keyof Operations
export const operationIds = Object.keys(operations) as OperationId[]

/** The entry under its general type, for code that walks over all of them. */
export const operationOf = (id: OperationId): Operation => operations[id]
