import type { Scope, ScopeInput } from '../shared/scope.ts'
import type { Context } from './context.ts'
import { allPages } from './pages.ts'
import { resolveService } from './resolve.ts'

/** The scope of these services, by name or id; undefined where none is named. @throws CliError for one that is not there. */
export async function scopeOf(context: Context, services: readonly string[] | undefined): Promise<ScopeInput | undefined> {
  if (services === undefined || services.length === 0) return undefined
  const serviceIds: string[] = []
  for (const name of services) serviceIds.push((await resolveService(context, name)).id)
  return { serviceIds: [...new Set(serviceIds)] }
}

/** A scope in a table. */
export function scopeInBrief(scope: Scope): string {
  if (scope === null) return 'everything'
  return scope.serviceIds.length === 0 ? 'nothing (its services were deleted)' : scope.serviceIds.join(' ')
}

/** A scope with the names of its services, where they can be seen. */
export async function scopeInWords({ client }: Pick<Context, 'client'>, scope: Scope): Promise<string> {
  if (scope === null || scope.serviceIds.length === 0) return scopeInBrief(scope)
  const services = (await allPages((query) => client.call('listServices', { query }))).map(({ service }) => service)
  return scope.serviceIds.map((id) => services.find((service) => service.id === id)?.name ?? id).join(', ')
}
