import type { Context } from '../session/context.ts'
import { clean } from '../terminal/text.ts'
import type { PlannedGroup } from './groups.ts'
import type { CopyPlan, PlannedEnvironment, PlannedService } from './plan.ts'

export interface Copied {
  planned: PlannedService
  id: string
}

type GroupIds = Map<string, string>

/** Makes what the plan says is not there. Each step is one request, so a copy that broke off goes on where it ended. */
export async function executeCopy(context: Context, plan: CopyPlan): Promise<Copied[]> {
  const projectId = plan.project.id ?? (await makeProject(context, plan.project.name))
  const groupIds: GroupIds = new Map()
  for (const group of plan.groups) groupIds.set(group.original.id, group.existing?.id ?? (await makeGroup(context, group, { projectId })))
  const copied: Copied[] = []
  for (const planned of plan.environments) copied.push(...(await copyEnvironment(context, planned, { projectId, groupIds })))
  return copied
}

async function makeProject(context: Context, name: string): Promise<string> {
  const { id } = await context.client.call('createProject', { body: { name } })
  context.note(clean`Created the project ${name}`)
  return id
}

interface Into {
  projectId: string
  groupIds: GroupIds
}

async function copyEnvironment(context: Context, planned: PlannedEnvironment, { projectId, groupIds }: Into): Promise<Copied[]> {
  const environmentId = planned.existing?.id ?? (await makeEnvironment(context, planned, projectId))
  for (const group of planned.groups)
    groupIds.set(group.original.id, group.existing?.id ?? (await makeGroup(context, group, { environmentId })))
  const copied: Copied[] = []
  for (const service of planned.services) {
    const id = service.existing?.id ?? (await makeService(context, service, environmentId))
    await link(context, service, { id, groupIds })
    copied.push({ planned: service, id })
  }
  return copied
}

async function makeEnvironment(context: Context, { name, label, settings }: PlannedEnvironment, projectId: string): Promise<string> {
  const { id } = await context.client.call('createEnvironment', { body: { name, projectId, ...settings } })
  context.note(clean`Created the environment ${label}`)
  return id
}

async function makeGroup(
  context: Context,
  { name, original, missing }: PlannedGroup,
  place: { environmentId: string } | { projectId: string },
): Promise<string> {
  const { envVars, secretFiles } = original
  const isLacking = missing.length > 0
  const body = {
    name,
    ...place,
    envVars: envVars.map(({ key, value, interpolate }) => ({ key, value: isLacking ? '' : value, ...(interpolate && { interpolate }) })),
    secretFiles: secretFiles.map((file) => ({ name: file.name, content: isLacking ? '' : file.content })),
  }
  const { id } = await context.client.call('createEnvGroup', { body })
  context.note(clean`Created the env group ${name} (${id}) like ${original.name}`)
  return id
}

async function makeService(context: Context, { name, original, input }: PlannedService, environmentId: string): Promise<string> {
  const { service } = await context.client.call('createService', { body: input(environmentId) })
  context.note(clean`Created ${service.type} ${name} (${service.id}) like ${original.service.name}`)
  return service.id
}

async function link(
  context: Context,
  { name, links }: PlannedService,
  { id, groupIds }: { id: string; groupIds: GroupIds },
): Promise<void> {
  for (const { group, copy } of links) {
    const envGroupId = groupIds.get(group.id) ?? group.id
    await context.client.call('linkEnvGroup', { params: { envGroupId, serviceId: id } })
    context.note(clean`Linked ${name} to the env group ${copy?.name ?? group.name}`)
  }
}
