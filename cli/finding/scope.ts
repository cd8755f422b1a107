import type { Scope, ScopeInput } from '../../shared/scope.ts'
import type { Client } from '../api/client.ts'
import { allPages } from '../api/pages.ts'
import { CliError } from '../base/error.ts'
import type { Context } from '../session/context.ts'
import { resolveEnvironment } from './environments.ts'
import { resolveProject } from './projects.ts'
import { resolveService } from './service.ts'

export interface ScopeOptions {
  service?: string[]
  environment?: string[]
  project?: string[]
}

/** The scope that options name; undefined where none does. @throws CliError for a name that there is not. */
export async function scopeOf(
  context: Context,
  { service = [], environment = [], project = [] }: ScopeOptions,
): Promise<ScopeInput | undefined> {
  const ids = {
    serviceIds: await idsOf(service, (name) => resolveService(context, name)),
    environmentIds: await idsOf(environment, async (name) => (await resolveEnvironment(context, name)).environment),
    projectIds: await idsOf(project, (name) => resolveProject(context, name)),
  }
  const named = Object.entries(ids).filter(([, found]) => found.length > 0)
  return named.length === 0 ? undefined : Object.fromEntries(named)
}

async function idsOf(names: readonly string[], resolve: (name: string) => Promise<{ id: string }>): Promise<string[]> {
  const ids: string[] = []
  for (const name of names) ids.push((await resolve(name)).id)
  return [...new Set(ids)]
}

export async function scopeInWords(context: Pick<Context, 'client'>, scope: NonNullable<ScopeInput>): Promise<string> {
  const whole = { serviceIds: [], ...scope }
  return (await scopesInWords(context, [whole]))(whole)
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
