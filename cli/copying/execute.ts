import type { Context } from '../session/context.ts'
import { clean } from '../terminal/text.ts'
import { copyOfVariable, type Datastore, keyValueLike, nounOf, type PlannedDatastore, postgresLike } from './datastores.ts'
import type { PlannedGroup } from './groups.ts'
import type { CopyPlan, PlannedEnvironment, PlannedService } from './plan.ts'
import { inputOfCopy } from './service-input.ts'

export interface Copied {
  planned: PlannedService
  id: string
}

export interface Copies {
  services: Copied[]
  datastores: Datastore[]
}

type Ids = Map<string, string>

/** Makes what the plan says is not there. Each step is one request, so a copy that broke off goes on where it ended. */
export async function executeCopy(context: Context, plan: CopyPlan): Promise<Copies> {
  const projectId = plan.project.id ?? (await makeProject(context, plan.project.name))
  const ids: Ids = new Map()
  const places: Place[] = []
  for (const planned of plan.environments) places.push(await makePlace(context, planned, { projectId, ids }))
  for (const group of plan.groups) ids.set(group.original.id, group.existing?.id ?? (await makeGroup(context, group, { projectId, ids })))
  const services: Copied[] = []
  for (const place of places) services.push(...(await copyInto(context, place, ids)))
  return { services, datastores: places.flatMap((place) => place.datastores) }
}

async function makeProject(context: Context, name: string): Promise<string> {
  const { id } = await context.client.call('createProject', { body: { name } })
  context.note(clean`Created the project ${name}`)
  return id
}

interface Place {
  planned: PlannedEnvironment
  environmentId: string
  datastores: Datastore[]
}

/** Makes an environment with its datastores, to which variables of services and groups refer. */
async function makePlace(
  context: Context,
  planned: PlannedEnvironment,
  { projectId, ids }: { projectId: string; ids: Ids },
): Promise<Place> {
  const environmentId = planned.existing?.id ?? (await makeEnvironment(context, planned, projectId))
  const datastores: Datastore[] = []
  for (const one of planned.datastores) {
    const there = one.existing ?? (await makeDatastore(context, one, environmentId))
    ids.set(one.original.of.id, there.of.id)
    datastores.push(there)
  }
  return { planned, environmentId, datastores }
}

async function copyInto(context: Context, { planned, environmentId }: Place, ids: Ids): Promise<Copied[]> {
  for (const group of planned.groups)
    ids.set(group.original.id, group.existing?.id ?? (await makeGroup(context, group, { environmentId, ids })))
  const copied: Copied[] = []
  for (const service of planned.services) {
    const id = service.existing?.id ?? (await makeService(context, service, { environmentId, ids }))
    await link(context, service, { id, ids })
    copied.push({ planned: service, id })
  }
  return copied
}

async function makeDatastore(context: Context, { name, original }: PlannedDatastore, environmentId: string): Promise<Datastore> {
  const made = await createLike(context, original, { name, environmentId })
  context.note(clean`Created the ${nounOf(original)} ${name} (${made.of.id}) like ${original.of.name}, empty`)
  return made
}

async function createLike(
  { client }: Context,
  original: Datastore,
  { name, environmentId }: { name: string; environmentId: string },
): Promise<Datastore> {
  if (original.kind === 'key_value')
    return { kind: 'key_value', of: await client.call('createKeyValue', { body: keyValueLike(original.of, name, environmentId) }) }
  return { kind: 'postgres', of: await client.call('createPostgres', { body: postgresLike(original.of, name, environmentId) }) }
}

async function makeEnvironment(context: Context, { name, label, settings }: PlannedEnvironment, projectId: string): Promise<string> {
  const { id } = await context.client.call('createEnvironment', { body: { name, projectId, ...settings } })
  context.note(clean`Created the environment ${label}`)
  return id
}

async function makeGroup(
  context: Context,
  { name, original, missing }: PlannedGroup,
  { ids, ...place }: ({ environmentId: string } | { projectId: string }) & { ids: Ids },
): Promise<string> {
  const { envVars, secretFiles } = original
  const body = {
    name,
    ...place,
    envVars: envVars.map((variable) => copyOfVariable(variable, { missing, ids })),
    secretFiles: secretFiles.map((file) => ({ name: file.name, content: missing.includes(file.name) ? '' : file.content })),
  }
  const { id } = await context.client.call('createEnvGroup', { body })
  context.note(clean`Created the env group ${name} (${id}) like ${original.name}`)
  return id
}

async function makeService(
  context: Context,
  { name, original, missing }: PlannedService,
  at: { environmentId: string; ids: Ids },
): Promise<string> {
  const { service } = await context.client.call('createService', { body: inputOfCopy(original, { name, missing, ...at }) })
  context.note(clean`Created ${service.type} ${name} (${service.id}) like ${original.service.name}`)
  return service.id
}

async function link(context: Context, { name, links }: PlannedService, { id, ids }: { id: string; ids: Ids }): Promise<void> {
  for (const { group, copy } of links) {
    const envGroupId = ids.get(group.id) ?? group.id
    await context.client.call('linkEnvGroup', { params: { envGroupId, serviceId: id } })
    context.note(clean`Linked ${name} to the env group ${copy?.name ?? group.name}`)
  }
}
