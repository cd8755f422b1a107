import type { ActorScope } from '../../http/handlers/call.ts'

export interface ScopeFilter {
  sql: string
  values: { scopeServices: string; scopeReach: string }
}

/** The condition that `isWithin` is, on a query that has a service's id and environment in these columns; undefined lets all through. */
export function scopeFilter(scope: ActorScope | undefined, columns: { id: string; environmentId: string }): ScopeFilter | undefined {
  if (scope === undefined) return undefined
  return {
    sql: `(${columns.id} IN (SELECT value FROM json_each($scopeServices))
      OR ${columns.environmentId} IN (SELECT value FROM json_each($scopeReach)))`,
    values: { scopeServices: JSON.stringify([...scope.serviceIds]), scopeReach: JSON.stringify([...scope.reach]) },
  }
}
