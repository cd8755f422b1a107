import type { DeployPlan, DeployPlanQuery } from '../../../shared/deploy-plan.ts'
import { invalidValue } from '../../../shared/error.ts'
import type { BuildSettings } from '../../builders/port.ts'
import type { Viewer } from '../../identity/scopes/protection.ts'
import type { AppContext } from '../context.ts'
import { buildSettingsOf } from '../services/build-settings.ts'
import { requireService } from '../services/require.ts'
import type { StoredService } from '../services/store.ts'
import { lookAtUpload, type Upload } from '../sources/operations.ts'
import { resolvedVariables } from '../variables/resolved.ts'

export interface Planning {
  viewer: Viewer
  query: DeployPlanQuery
  upload: Pick<Upload<never>, 'body' | 'contentType' | 'expectedBytes' | 'signal'>
}

/** @throws AppError as an upload and a build of it do, and not_found for a service that the caller cannot see. */
export async function planDeploy(context: AppContext, { viewer, query, upload }: Planning): Promise<DeployPlan> {
  const service = query.serviceId === undefined ? undefined : requireService(context, viewer, query.serviceId)
  const settings = settingsOf(service, query)
  const rootDir = query.rootDir ?? service?.settings.rootDir ?? ''
  const env = service === undefined ? {} : Object.fromEntries(resolvedVariables(context, service).map(({ key, value }) => [key, value]))
  const planned = await lookAtUpload(context, upload, (source, signal) => context.builder.plan({ source, rootDir, settings, env, signal }))
  const preDeployCommand = service?.settings.preDeployCommand ?? ''
  return { type: settings.type, ...planned, ...(preDeployCommand !== '' && { preDeployCommand }) }
}

function settingsOf(service: StoredService | undefined, query: DeployPlanQuery): BuildSettings {
  const { type = 'web_service', runtime, buildCommand, startCommand, publishPath } = query
  if (service !== undefined && query.type !== undefined && query.type !== service.type)
    throw invalidValue('/type', `${service.name} is a ${service.type}, and the type of a service cannot change.`)
  return {
    ...(service === undefined ? { type } : buildSettingsOf(service)),
    ...(runtime !== undefined && { runtime }),
    ...(buildCommand !== undefined && { buildCommand }),
    ...(startCommand !== undefined && { startCommand }),
    ...(publishPath !== undefined && { publishPath }),
  }
}
