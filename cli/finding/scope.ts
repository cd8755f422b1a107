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

/** Says these scopes with the names of their services, and with ids where the caller may not see the services. */
export async function scopesInWords({ client }: Pick<Context, 'client'>, scopes: readonly Scope[]): Promise<(scope: Scope) => string> {
  const names = scopes.some((scope) => scope !== null && scope.serviceIds.length > 0)
    ? await serviceNames(client)
    : new Map<string, string>()
  return (scope) => {
    if (scope === null) return 'everything'
    if (scope.serviceIds.length === 0) return 'nothing (its services were deleted)'
    return scope.serviceIds.map((id) => names.get(id) ?? id).join(', ')
  }
}

async function serviceNames(client: Client): Promise<ReadonlyMap<string, string>> {
  try {
    return new Map((await allPages((query) => client.call('listServices', { query }))).map(({ service: { id, name } }) => [id, name]))
  } catch (error) {
    if (error instanceof CliError && error.code === 'forbidden') return new Map()
    throw error
  }
}
