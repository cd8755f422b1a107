import type { Database } from 'bun:sqlite'
import type { ActorScope } from '../../http/handlers/call.ts'
import type { NamedScope } from './scope.ts'

/** A scope with the environments that its projects have now: asked with each request, so that a change counts from the next one on. */
export function reachOf(db: Database, scope: NamedScope): ActorScope | undefined {
  if (scope === undefined) return undefined
  const { environmentIds, projectIds } = scope
  if (projectIds.size === 0) return { ...scope, reach: environmentIds }
  return { ...scope, reach: new Set([...environmentIds, ...environmentsOf(db, [...projectIds])]) }
}

const environmentsOf = (db: Database, projectIds: readonly string[]): string[] =>
  db
    .query<{ id: string }, [string]>('SELECT id FROM environments WHERE project_id IN (SELECT value FROM json_each(?))')
    .all(JSON.stringify(projectIds))
    .map(({ id }) => id)

/** Whether everything that `wanted` names lies in `held` by name, so that nothing that is moved later can part them. */
export function isScopeWithin(wanted: NamedScope, held: ActorScope | undefined): boolean {
  if (held === undefined) return true
  if (wanted === undefined) return false
  return (
    wanted.serviceIds.isSubsetOf(held.serviceIds) &&
    wanted.environmentIds.isSubsetOf(held.reach) &&
    wanted.projectIds.isSubsetOf(held.projectIds)
  )
}
