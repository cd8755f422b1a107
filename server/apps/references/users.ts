import type { Database } from 'bun:sqlite'
import type { ServiceType } from '../../../shared/service-type.ts'

export interface ReferringService {
  id: string
  name: string
  type: ServiceType
  environmentId: string | null
}

export interface Users {
  services: (ReferringService & { key: string })[]
  groups: { id: string; name: string }[]
}

/** What refers to a datastore itself, by name, without what is being deleted. */
export const usersOf = (db: Database, { id, workspaceId }: { id: string; workspaceId: string }): Users => ({
  services: db
    .query<Users['services'][number], [string]>(
      `SELECT s.id, s.name, s.type, s.environment_id AS environmentId, min(e.key) AS key
       FROM env_vars e JOIN services s ON s.id = e.service_id
       WHERE e.datastore_id = ? AND s.deleted_at IS NULL GROUP BY s.id ORDER BY s.name`,
    )
    .all(id),
  groups: db
    .query<Users['groups'][number], [string, string]>(
      `SELECT id, name FROM env_groups WHERE workspace_id = ? AND EXISTS (SELECT 1 FROM json_each(datastore_ids) WHERE value = ?) ORDER BY name`,
    )
    .all(workspaceId, id),
})

/** Ids of the services that a datastore says something to, be it by a group. */
export const servicesTold = (db: Database, { id, workspaceId }: { id: string; workspaceId: string }): string[] =>
  db
    .query<{ id: string }, [{ id: string; workspaceId: string }]>(
      `SELECT id FROM services WHERE workspace_id = $workspaceId AND deleted_at IS NULL AND (
         id IN (SELECT service_id FROM env_vars WHERE datastore_id = $id)
         OR id IN (SELECT l.service_id FROM env_group_links l JOIN env_groups g ON g.id = l.group_id
           WHERE g.workspace_id = $workspaceId AND EXISTS (SELECT 1 FROM json_each(g.datastore_ids) WHERE value = $id)))
       ORDER BY name`,
    )
    .all({ id, workspaceId })
    .map((row) => row.id)
