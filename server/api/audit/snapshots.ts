import { findDatastore } from '../../apps/datastores/store.ts'
import { presentDisk } from '../../apps/disks/present.ts'
import { findDisk } from '../../apps/disks/store.ts'
import { sealedGroupFiles } from '../../apps/env-groups/store/file-store.ts'
import { findGroup, listGroupVariables } from '../../apps/env-groups/store/group-store.ts'
import { servicesOfGroup } from '../../apps/env-groups/store/link-store.ts'
import { presentKeyValue } from '../../apps/key-value/present.ts'
import { overridesOf } from '../../apps/notifications/overrides-store.ts'
import { presentSettings } from '../../apps/notifications/settings.ts'
import { settingsOf } from '../../apps/notifications/settings-store.ts'
import { presentPostgres } from '../../apps/postgres/present.ts'
import { presentEnvironment, presentProject } from '../../apps/projects/routes/present.ts'
import { findEnvironment, findProject } from '../../apps/projects/store.ts'
import { findEnv, listEnv, listSecretFiles } from '../../apps/services/env-store.ts'
import { presentService } from '../../apps/services/routes/present.ts'
import { findService } from '../../apps/services/store.ts'
import { presentWebhook } from '../../apps/webhooks/present.ts'
import { findWebhook } from '../../apps/webhooks/store.ts'
import { findDomain } from '../../edge/domains/store.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { presentKeyDetails } from '../../identity/api-keys/present.ts'
import { findKey } from '../../identity/api-keys/store.ts'
import { hidden } from '../../identity/audit-chain/mask.ts'
import type { Snapshot } from '../../identity/audit-log/differences.ts'
import { findRole } from '../../identity/permissions/role-store.ts'
import { presentRole } from '../../identity/roles/present.ts'
import { presentScope } from '../../identity/scopes/scope.ts'
import { findMember } from '../../identity/team/store.ts'
import { findDetails, presentDetails } from '../../identity/workspaces/store.ts'
import type { ApiContext } from '../context.ts'

interface Of<P> {
  actor: Pick<Actor, 'workspaceId'>
  params: P
}

type OfService = Of<{ serviceId: string }>

export function serviceNow({ actor, params }: OfService, context: ApiContext): Snapshot | undefined {
  const service = findService(context.db, actor.workspaceId, params.serviceId)
  return service === undefined ? undefined : { ...presentService(context, service), generation: service.generation }
}

/** The variables of a service: the names, and of values only whether they change. */
export function envNow({ actor, params }: OfService, context: ApiContext): Snapshot | undefined {
  const service = findService(context.db, actor.workspaceId, params.serviceId)
  return service && { envVars: Object.fromEntries(listEnv(context, service.id).map(({ key, value }) => [key, hidden(value)])) }
}

export function envVarNow({ actor, params }: Of<{ serviceId: string; key: string }>, context: ApiContext): Snapshot | undefined {
  const service = findService(context.db, actor.workspaceId, params.serviceId)
  const entry = service && findEnv(context, service.id, params.key)
  return service && { envVars: entry === undefined ? {} : { [params.key]: hidden(entry.value) } }
}

/** Names of the secret files of a service. Contents are hidden, so the audit log tells only whether they changed. */
export function secretFilesNow({ actor, params }: OfService, context: ApiContext): Snapshot | undefined {
  const service = findService(context.db, actor.workspaceId, params.serviceId)
  return (
    service && { secretFiles: Object.fromEntries(listSecretFiles(context, service.id).map(({ name, content }) => [name, hidden(content)])) }
  )
}

export const notificationsNow = ({ actor }: Pick<OfService, 'actor'>, context: ApiContext): Snapshot => ({
  ...presentSettings(context, settingsOf(context.db, actor.workspaceId)),
})

export function overridesNow({ actor, params }: OfService, { db }: ApiContext): Snapshot | undefined {
  const service = findService(db, actor.workspaceId, params.serviceId)
  return service && { ...overridesOf(db, service.id) }
}

/** A project and its environments as those see it who see the whole workspace. */
export function projectNow({ actor, params }: Of<{ projectId: string }>, { db }: ApiContext): Snapshot | undefined {
  const project = findProject(db, actor.workspaceId, params.projectId)
  return project && { ...presentProject(db, { ...actor, scope: undefined }, project) }
}

export function environmentNow({ actor, params }: Of<{ environmentId: string }>, { db }: ApiContext): Snapshot | undefined {
  const environment = findEnvironment(db, actor.workspaceId, params.environmentId)
  return environment && { ...presentEnvironment(db, { ...actor, scope: undefined }, environment) }
}

/** An env group. Values and contents are hidden, so the audit log tells only whether they changed. */
export function groupNow({ actor, params }: Of<{ envGroupId: string }>, context: ApiContext): Snapshot | undefined {
  const group = findGroup(context.db, actor.workspaceId, params.envGroupId)
  if (group === undefined) return undefined
  return {
    name: group.name,
    environmentId: group.environmentId,
    projectId: group.projectId,
    envVars: Object.fromEntries(listGroupVariables(context, group.id).map(({ key, ...entry }) => [key, hidden(entry)])),
    secretFiles: Object.fromEntries(sealedGroupFiles(context, group.id).map(({ name, sealed }) => [name, hidden(sealed)])),
    services: servicesOfGroup(context.db, group.id).map(({ id }) => id),
  }
}

export function diskNow({ actor, params }: Of<{ diskId: string }>, { db }: ApiContext): Snapshot | undefined {
  const disk = findDisk(db, actor.workspaceId, params.diskId)
  return disk && { ...presentDisk(db, disk) }
}

export function postgresNow({ actor, params }: Of<{ postgresId: string }>, context: ApiContext): Snapshot | undefined {
  const datastore = findDatastore(context.db, actor.workspaceId, params.postgresId)
  if (datastore?.kind !== 'postgres') return undefined
  const { status: _, owner: __, ...settings } = presentPostgres(context, datastore)
  return settings
}

export function keyValueNow({ actor, params }: Of<{ keyValueId: string }>, context: ApiContext): Snapshot | undefined {
  const datastore = findDatastore(context.db, actor.workspaceId, params.keyValueId)
  if (datastore?.kind !== 'key_value') return undefined
  const { status: _, owner: __, ...settings } = presentKeyValue(context, datastore)
  return settings
}

export function domainNow({ actor, params }: Of<{ serviceId: string; domainId: string }>, { db }: ApiContext): Snapshot | undefined {
  const service = findService(db, actor.workspaceId, params.serviceId)
  const domain = service && findDomain(db, service.id, params.domainId)
  return domain && { id: domain.id, name: domain.name }
}

export function roleNow({ actor, params }: Of<{ roleId: string }>, { db }: ApiContext): Snapshot | undefined {
  const role = findRole(db, actor.workspaceId, params.roleId)
  return role && { ...presentRole(role) }
}

export function webhookNow({ actor, params }: Of<{ webhookId: string }>, { db, now }: ApiContext): Snapshot | undefined {
  const webhook = findWebhook(db, actor.workspaceId, params.webhookId)
  return webhook && { ...presentWebhook(webhook, now()) }
}

/** An API key of the caller's workspace as callers see it, without its secret. */
export function keyNow({ actor, params }: Of<{ keyId: string }>, { db }: ApiContext): Snapshot | undefined {
  const key = findKey(db, actor.workspaceId, params.keyId)
  return key && { ...presentKeyDetails(key) }
}

export function memberNow({ actor, params }: Of<{ memberId: string }>, { db }: ApiContext): Snapshot | undefined {
  const member = findMember(db, actor.workspaceId, params.memberId)
  return member && { email: member.email, role: member.role, scope: presentScope(member.scope) }
}

export function workspaceNow({ actor }: Of<unknown>, { db }: ApiContext): Snapshot | undefined {
  const workspace = findDetails(db, actor.workspaceId)
  return workspace === undefined || workspace.deletedAt !== null ? undefined : { ...presentDetails(workspace) }
}
