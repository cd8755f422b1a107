import type { Database } from 'bun:sqlite'
import { fits } from './rules.ts'
import { linksAmong, type PlacedLink } from './store/link-store.ts'

/** Services and groups that go into an environment together, or out of all with null. */
export interface Relocation {
  ids: ReadonlySet<string>
  to: string | null
}

/** Links of what is moved that cannot be after it: a group of an environment or project serves what is in it. */
export function linksBrokenBy(db: Database, { ids, to }: Relocation): PlacedLink[] {
  const projectOf = (environmentId: string | null): string | null =>
    environmentId === null ? null : (projectQuery(db).get(environmentId)?.projectId ?? null)
  return linksAmong(db, [...ids]).filter(({ serviceId, groupId, serviceEnvironmentId, environmentId, projectId }) => {
    const place = ids.has(serviceId) ? to : serviceEnvironmentId
    const group = ids.has(groupId) ? { environmentId: to, projectId: null } : { environmentId, projectId }
    return !fits(group, { environmentId: place, projectId: projectOf(place) })
  })
}

const projectQuery = (db: Database) =>
  db.query<{ projectId: string }, [string]>('SELECT project_id AS projectId FROM environments WHERE id = ?')
