import type { Scope, ScopeInput } from '../../shared/scope.ts'
import type { Client } from '../api/client.ts'
import { allPages } from '../api/pages.ts'
import { CliError } from '../base/error.ts'
import type { Context } from '../session/context.ts'
import { resolveService } from './service.ts'

/** The scope of these services, by name or id; undefined where none is named. @throws CliError for one that is not there. */
export async function scopeOf(context: Context, services: readonly string[] | undefined): Promise<ScopeInput | undefined> {
  if (services === undefined || services.length === 0) return undefined
  const serviceIds: string[] = []
  for (const name of services) serviceIds.push((await resolveService(context, name)).id)
  return { serviceIds: [...new Set(serviceIds)] }
}

/** Says these scopes by names, and by ids where the caller may not see what they name. */
export async function scopesInWords({ client }: Pick<Context, 'client'>, scopes: readonly Scope[]): Promise<(scope: Scope) => string> {
  const names = await namesFor(client, scopes)
  return (scope) => {
    if (scope === null) return 'everything'
    const { serviceIds, environmentIds = [], projectIds = [] } = scope
    const word = (id: string) => names.get(id) ?? id
    const named = [
      ...serviceIds.map(word),
      ...environmentIds.map((id) => `environment ${word(id)}`),
      ...projectIds.map((id) => `project ${word(id)}`),
    ]
    return named.length === 0 ? 'nothing (what it named was deleted)' : named.join(', ')
  }
}

/** Names of what the scopes name, by id; lists are fetched only for the kinds that are named. */
async function namesFor(client: Client, scopes: readonly Scope[]): Promise<ReadonlyMap<string, string>> {
  const isNamed = (kind: keyof NonNullable<Scope>) => scopes.some((scope) => (scope?.[kind] ?? []).length > 0)
  const [services, environments, projects] = await Promise.all([
    isNamed('serviceIds') ? seen(allPages((query) => client.call('listServices', { query }))) : [],
    isNamed('environmentIds') ? seen(allPages((query) => client.call('listEnvironments', { query }))) : [],
    isNamed('environmentIds') || isNamed('projectIds') ? seen(allPages((query) => client.call('listProjects', { query }))) : [],
  ])
  const projectNames = new Map(projects.map(({ project: { id, name } }) => [id, name]))
  return new Map([
    ...services.map(({ service: { id, name } }) => [id, name] as const),
    ...environments.map(({ environment: { id, name, projectId } }) => [id, `${projectNames.get(projectId) ?? projectId}/${name}`] as const),
    ...projectNames,
  ])
}

async function seen<T>(list: Promise<T[]>): Promise<T[]> {
  try {
    return await list
  } catch (error) {
    if (error instanceof CliError && error.code === 'forbidden') return []
    throw error
  }
}
