import type { Database } from 'bun:sqlite'
import type { Viewer } from '../../identity/scopes/protection.ts'

export interface SeenPlaces {
  environmentIds: ReadonlySet<string>
  projectIds: ReadonlySet<string>
}

/** What somebody who is confined sees: environments within the scope and those of their services, with the projects; undefined is everything. */
export function seenPlaces(db: Database, { workspaceId, scope }: Viewer): SeenPlaces | undefined {
  if (scope === undefined) return undefined
  const rows = db
    .query<{ id: string; projectId: string }, Record<string, string>>(
      `SELECT id, project_id AS projectId FROM environments WHERE workspace_id = $workspaceId
       AND (id IN (SELECT value FROM json_each($reach)) OR id IN (SELECT environment_id FROM services
         WHERE workspace_id = $workspaceId AND deleted_at IS NULL AND id IN (SELECT value FROM json_each($services))))`,
    )
    .all({ workspaceId, reach: JSON.stringify([...scope.reach]), services: JSON.stringify([...scope.serviceIds]) })
  return {
    environmentIds: new Set(rows.map(({ id }) => id)),
    projectIds: new Set([...scope.projectIds, ...rows.map(({ projectId }) => projectId)]),
  }
}
