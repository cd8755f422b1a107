import type { Database } from 'bun:sqlite'
import { typesWith } from '../../../../shared/service-type.ts'
import { slugify } from '../../../../shared/slug.ts'
import { sqlList } from '../../../platform/db/sql-list.ts'
import type { Member } from './parted.ts'

/** What changes: services that go elsewhere, and environments that are isolated or no longer. */
export interface NetworkChange {
  /** Environments in which services will be, by their ids; null is none. */
  places?: ReadonlyMap<string, string | null>
  isolation?: ReadonlyMap<string, boolean>
}

interface Row {
  id: string
  name: string
  slug: string
  environmentId: string | null
  isListening: number
}

/** Services of a workspace with the networks in which they are before and after a change. */
export function membersOf(db: Database, workspaceId: string, { places = new Map(), isolation = new Map() }: NetworkChange): Member[] {
  const isolated = isolatedIn(db, workspaceId)
  const networkOf = (environmentId: string | null, isIsolated: (id: string) => boolean): string =>
    environmentId !== null && isIsolated(environmentId) ? environmentId : workspaceId
  return db
    .query<Row, [string]>(
      `SELECT id, name, slug, environment_id AS environmentId, type IN (${sqlList(typesWith('listens'))}) AS isListening
       FROM services WHERE workspace_id = ? AND deleted_at IS NULL ORDER BY id`,
    )
    .all(workspaceId)
    .map(({ id, name, slug, environmentId, isListening }) => ({
      id,
      environmentId,
      name,
      hosts: isListening === 1 ? [...new Set([slug, slugify(name)])] : [],
      before: networkOf(environmentId, (one) => isolated.has(one)),
      after: networkOf(places.has(id) ? (places.get(id) ?? null) : environmentId, (one) => isolation.get(one) ?? isolated.has(one)),
    }))
}

const isolatedIn = (db: Database, workspaceId: string): ReadonlySet<string> =>
  new Set(
    db
      .query<{ id: string }, [string]>('SELECT id FROM environments WHERE workspace_id = ? AND is_isolated = 1')
      .all(workspaceId)
      .map(({ id }) => id),
  )
