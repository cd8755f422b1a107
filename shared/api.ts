import { accountOperations } from './api/account.ts'
import { apiKeyOperations } from './api/api-keys.ts'
import { auditOperations } from './api/audit.ts'
import { authOperations } from './api/auth.ts'
import { certificateOperations } from './api/certificates.ts'
import { datastoreOperations } from './api/datastores.ts'
import { deployOperations } from './api/deploys.ts'
import { deviceOperations } from './api/device.ts'
import { diskOperations } from './api/disks.ts'
import { domainOperations } from './api/domains.ts'
import { edgeRuleOperations } from './api/edge-rules.ts'
import { healthOperations } from './api/health.ts'
import { jobOperations } from './api/jobs.ts'
import { logOperations } from './api/logs.ts'
import { metricOperations } from './api/metrics.ts'
import { notificationOperations } from './api/notifications.ts'
import { oauthOperations } from './api/oauth.ts'
import { projectOperations } from './api/projects.ts'
import { roleOperations } from './api/roles.ts'
import { serviceSettingOperations } from './api/service-settings.ts'
import { serviceOperations } from './api/services.ts'
import { shellOperations } from './api/shells.ts'
import { teamOperations } from './api/team.ts'
import { workspaceOperations } from './api/workspaces.ts'
import type { Operation } from './operation.ts'

/**
 * Source of every route of the server, every entry of the OpenAPI document, every call of cpctl and the conformance and permission tests.
 */
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
  ...serviceSettingOperations,
  ...edgeRuleOperations,
  ...notificationOperations,
  ...deployOperations,
  ...jobOperations,
  ...diskOperations,
  ...domainOperations,
  ...projectOperations,
  ...datastoreOperations,
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
