import type { Database } from 'bun:sqlite'
import type { WorkspaceDetails } from '../../../shared/workspace.ts'
import type { StoredWorkspace } from '../memberships/store.ts'

/** A workspace with its rules. */
export interface StoredDetails extends StoredWorkspace {
  requiresTwoFactor: boolean
  /** Set while everything in it is being removed. */
  deletedAt: number | null
}

interface DetailsRow extends Omit<StoredDetails, 'requiresTwoFactor'> {
  requiresTwoFactor: number
}

/** The workspace of this id, whosoever it is, also one that is being deleted. */
export function findDetails(db: Database, id: string): StoredDetails | undefined {
  const row = db
    .query<DetailsRow, [string]>(
      `SELECT id, name, email, created_at AS createdAt, requires_two_factor AS requiresTwoFactor, deleted_at AS deletedAt
       FROM workspaces WHERE id = ?`,
    )
    .get(id)
  return row === null ? undefined : { ...row, requiresTwoFactor: row.requiresTwoFactor === 1 }
}

/** Changes name and rules. */
export function updateDetails(
  db: Database,
  { id, name, requiresTwoFactor }: Pick<StoredDetails, 'id' | 'name' | 'requiresTwoFactor'>,
): void {
  db.query('UPDATE workspaces SET name = $name, requires_two_factor = $required WHERE id = $id').run({
    id,
    name,
    required: requiresTwoFactor ? 1 : 0,
  })
}

/** Begins a deletion: members, keys, invites and roles are gone with it, so nobody has a way in. Belongs into a transaction. */
export function markWorkspaceDeleted(db: Database, id: string, now: number): void {
  db.query('UPDATE workspaces SET deleted_at = ? WHERE id = ?').run(now, id)
  for (const table of ['members', 'api_keys', 'invites', 'roles']) db.query(`DELETE FROM ${table} WHERE workspace_id = ?`).run(id)
}

/** Ids of the workspaces that are being removed. */
export const workspacesToRemove = (db: Database): string[] =>
  db
    .query<{ id: string }, []>('SELECT id FROM workspaces WHERE deleted_at IS NOT NULL')
    .all()
    .map(({ id }) => id)

/** Ends a deletion. @throws SQLiteError while it has services or disks. Belongs into a transaction. */
export function removeWorkspaceRow(db: Database, id: string): void {
  // Answers that are kept for repeated requests.
  db.query("DELETE FROM idempotency_keys WHERE scope >= $id || '/' AND scope < $id || '0'").run({ id })
  db.query('DELETE FROM workspaces WHERE id = ?').run(id)
}

/** The workspace with its rules, as callers see it. */
export const presentDetails = ({ id, name, email, requiresTwoFactor, createdAt }: StoredDetails): WorkspaceDetails => ({
  id,
  name,
  email,
  requiresTwoFactor,
  createdAt: new Date(createdAt).toISOString(),
})
