import type { Database } from 'bun:sqlite'
import type { Workspace } from '../../../shared/workspace.ts'

export const listRequiring = (db: Database, userId: string): Workspace[] =>
  db
    .query<Workspace, [string]>(
      `SELECT w.id, w.name FROM members m JOIN workspaces w ON w.id = m.workspace_id
       WHERE m.user_id = ? AND w.requires_two_factor = 1 AND w.deleted_at IS NULL ORDER BY w.id`,
    )
    .all(userId)
