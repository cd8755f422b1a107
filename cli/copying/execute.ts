import type { Context } from '../session/context.ts'
import { clean } from '../terminal/text.ts'
import type { CopyPlan, PlannedEnvironment, PlannedService } from './plan.ts'

/** A copy that stands: made now, or there before. */
export interface Copied {
  planned: PlannedService
  id: string
}

/** Makes what the plan says is not there. Each step is one request, so a copy that broke off goes on where it ended. */
export async function executeCopy(context: Context, plan: CopyPlan): Promise<Copied[]> {
  const projectId = plan.project.id ?? (await makeProject(context, plan.project.name))
  const copied: Copied[] = []
  for (const planned of plan.environments) copied.push(...(await copyEnvironment(context, planned, projectId)))
  return copied
}

async function makeProject(context: Context, name: string): Promise<string> {
  const { id } = await context.client.call('createProject', { body: { name } })
  context.note(clean`Created the project ${name}`)
  return id
}

async function copyEnvironment(context: Context, planned: PlannedEnvironment, projectId: string): Promise<Copied[]> {
  const environmentId = planned.existing?.id ?? (await makeEnvironment(context, planned, projectId))
  const copied: Copied[] = []
  for (const service of planned.services)
    copied.push({ planned: service, id: service.existing?.id ?? (await makeService(context, service, environmentId)) })
  return copied
}

async function makeEnvironment(context: Context, { name, label, settings }: PlannedEnvironment, projectId: string): Promise<string> {
  const { id } = await context.client.call('createEnvironment', { body: { name, projectId, ...settings } })
  context.note(clean`Created the environment ${label}`)
  return id
}

async function makeService(context: Context, { name, original, input }: PlannedService, environmentId: string): Promise<string> {
  const { service } = await context.client.call('createService', { body: input(environmentId) })
  context.note(clean`Created ${service.type} ${name} (${service.id}) as ${original.service.name} is`)
  return service.id
}
