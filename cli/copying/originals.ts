import type { EnvGroup } from '../../shared/env-group.ts'
import type { Environment } from '../../shared/project.ts'
import type { Service } from '../../shared/service.ts'
import { traitsOf } from '../../shared/service-type.ts'
import { allPages } from '../api/pages.ts'
import { CliError } from '../base/error.ts'
import type { Context } from '../session/context.ts'
import type { Datastore } from './datastores.ts'
import { linkOrder } from './link-order.ts'
import type { Original } from './service-input.ts'

type Asking = Pick<Context, 'client'>

interface Reading {
  groups: readonly EnvGroup[]
  isWithValues: boolean
}

/** A service with what a copy of it needs. @throws CliError when values are wanted that the caller may not see. */
export async function readOriginal(context: Asking, service: Service, { groups, isWithValues }: Reading): Promise<Original> {
  const params = { serviceId: service.id }
  const [envVars, secretFiles, domains] = await Promise.all([
    allPages((query) => context.client.call('listEnvVars', { params, query })),
    allPages((query) => context.client.call('listSecretFiles', { params, query })),
    traitsOf(service.type).isRouted ? allPages((query) => context.client.call('listCustomDomains', { params, query })) : [],
  ])
  const variables = envVars.map(({ envVar: { key, value, hidden, interpolate, fromDatabase, fromKeyValue } }) => ({
    key,
    value,
    ...(fromDatabase && { fromDatabase }),
    ...(fromKeyValue && { fromKeyValue }),
    ...(hidden && { hidden }),
    ...(interpolate && { interpolate }),
  }))
  const files = secretFiles.map(({ secretFile }) => secretFile)
  if (isWithValues) refuseHidden(service.name, [...variables, ...files])
  return {
    service,
    envVars: isWithValues ? variables : variables.map((variable) => ({ ...variable, value: '' })),
    secretFiles: isWithValues ? files : files.map((file) => ({ ...file, content: '' })),
    domains: domains.map(({ customDomain }) => customDomain.name),
    groups: await linkedGroups(context, service, groups),
  }
}

async function linkedGroups({ client }: Asking, { id }: Service, groups: readonly EnvGroup[]): Promise<EnvGroup[]> {
  const linked = groups.filter(({ serviceLinks }) => serviceLinks.some((link) => link.id === id))
  if (linked.length < 2) return linked
  const resolved = await allPages((query) => client.call('listEnvVars', { params: { serviceId: id }, query: { ...query, resolved: true } }))
  return linkOrder(
    linked,
    resolved.map(({ envVar }) => envVar),
  )
}

/** Every database and key-value store that the caller sees, where one is in these environments. Copies begin without read replicas. */
export async function readDatastores({ client }: Asking, environments: readonly Environment[]): Promise<Datastore[]> {
  if (!environments.some(({ databasesIds, redisIds }) => databasesIds.length + redisIds.length > 0)) return []
  const databases = await allPages((query) => client.call('listPostgres', { query: { ...query, includeReplicas: false } }))
  const stores = await allPages((query) => client.call('listKeyValue', { query }))
  return [
    ...databases.map(({ postgres: of }) => ({ kind: 'postgres' as const, of })),
    ...stores.map(({ keyValue: of }) => ({ kind: 'key_value' as const, of })),
  ]
}

interface ReadingGroups {
  isCopied: (group: EnvGroup) => boolean
  isWithValues: boolean
}

/** Every env group that the caller sees; those that are copied with their values, where these are wanted. @throws CliError as `readOriginal`. */
export async function readGroups({ client }: Asking, { isCopied, isWithValues }: ReadingGroups): Promise<EnvGroup[]> {
  const listed = (await allPages((query) => client.call('listEnvGroups', { query }))).map(({ envGroup }) => envGroup)
  if (!isWithValues) return listed
  const groups: EnvGroup[] = []
  for (const group of listed) groups.push(isCopied(group) ? await client.call('getEnvGroup', { params: { envGroupId: group.id } }) : group)
  for (const { name, envVars, secretFiles } of groups.filter(isCopied)) refuseHidden(name, [...envVars, ...secretFiles])
  return groups
}

function refuseHidden(name: string, values: readonly { hidden?: true }[]): void {
  if (!values.some(({ hidden }) => hidden)) return
  throw new CliError('forbidden', `You may not see the values of ${name}.`, {
    hint: 'They need env.read, and in a protected environment environments.manage_protected; or copy without --with-values.',
  })
}
