import type { Database } from 'bun:sqlite'

export interface PlacedResource {
  id: string
  name: string
  environmentId: string | null
}

/** One kind of them: rows of a table with id, workspace_id, name, environment_id and updated_at. */
export interface ResourceKind {
  one: string
  table: string
  isOfKind?: string
  /** SQL of what callers see, where rows stay for a while after their deletion. */
  isThere: string
}

export const resourceKinds = {
  serviceIds: { one: 'service', table: 'services', isThere: 'deleted_at IS NULL' },
  envGroupIds: { one: 'env group', table: 'env_groups', isThere: 'TRUE' },
  databasesIds: {
    one: 'database',
    table: 'datastores',
    isOfKind: "kind = 'postgres'",
    isThere: "phase <> 'deleting' AND role <> 'standby'",
  },
  redisIds: { one: 'key-value store', table: 'datastores', isOfKind: "kind = 'key_value'", isThere: "phase <> 'deleting'" },
} as const satisfies Record<string, ResourceKind>

const allKinds: readonly ResourceKind[] = Object.values(resourceKinds)

/** What is in an environment of one kind, the oldest first, without what is being deleted. */
export const contentsOf = (db: Database, environmentId: string, { table, isOfKind = 'TRUE', isThere }: ResourceKind): PlacedResource[] =>
  db
    .query<PlacedResource, [string]>(
      `SELECT id, name, environment_id AS environmentId FROM ${table} WHERE environment_id = ? AND ${isOfKind} AND ${isThere} ORDER BY id`,
    )
    .all(environmentId)

export const namesIn = (db: Database, environmentId: string): { one: string; names: string[] }[] =>
  allKinds.map((kind) => ({ one: kind.one, names: contentsOf(db, environmentId, kind).map(({ name }) => name) }))

/** The names of what is in a project and in none of its environments, as `namesIn` tells them. */
export const namesBesideEnvironments = (db: Database, projectId: string): { one: string; names: string[] }[] => {
  const groups = db.query<{ name: string }, [string]>('SELECT name FROM env_groups WHERE project_id = ? ORDER BY id').all(projectId)
  return [{ one: resourceKinds.envGroupIds.one, names: groups.map(({ name }) => name) }]
}

/** A resource of this workspace, of whatever kind; undefined where it has none of this id. */
export function findResource(db: Database, workspaceId: string, id: string): PlacedResource | undefined {
  for (const { table, isThere } of allKinds) {
    const sql = `SELECT id, name, environment_id AS environmentId FROM ${table} WHERE id = ? AND workspace_id = ? AND ${isThere}`
    const found = db.query<PlacedResource, [string, string]>(sql).get(id, workspaceId)
    if (found !== null) return found
  }
  return undefined
}

/** Puts a resource into an environment, or into none. Belongs in the transaction that found both. */
export function placeResource(db: Database, { id, environmentId }: Pick<PlacedResource, 'id' | 'environmentId'>, now: number): void {
  for (const { table } of allKinds)
    db.query(`UPDATE ${table} SET environment_id = ?, updated_at = ? WHERE id = ?`).run(environmentId, now, id)
  db.query('UPDATE datastores SET environment_id = ?, updated_at = ? WHERE primary_id = ?').run(environmentId, now, id)
  // A group of a whole project is of one environment from then on, or of none.
  db.query('UPDATE env_groups SET project_id = NULL WHERE id = ?').run(id)
}

/** Lets go of what is still being deleted in an environment. Belongs in the transaction that removes it. */
export function forgetDeleted(db: Database, environmentId: string): void {
  for (const { table, isThere } of allKinds)
    db.query(`UPDATE ${table} SET environment_id = NULL WHERE environment_id = ? AND NOT (${isThere})`).run(environmentId)
}
