import type { Database } from 'bun:sqlite'
import type { WorkspaceDetails } from '../../../shared/workspace.ts'
import { flag } from '../../platform/db/codec.ts'
import { tableOf } from '../../platform/db/table.ts'
import { type StoredWorkspace, workspaceColumns } from '../memberships/store.ts'

export interface StoredDetails extends StoredWorkspace {
  requiresTwoFactor: boolean
  deletedAt: number | null
}

const workspaces = tableOf<StoredDetails>('workspaces', {
  ...workspaceColumns,
  requiresTwoFactor: { column: 'requires_two_factor', as: flag },
  deletedAt: 'deleted_at',
})

/** The workspace of this id, whoever is in it, one that is being deleted included. */
export const findDetails = (db: Database, id: string): StoredDetails | undefined => workspaces.get(db, 'WHERE id = $id', { id })

/** Changes the name of a workspace, and whether its members need a second factor. */
export const updateDetails = (db: Database, id: string, rules: Pick<StoredDetails, 'name' | 'requiresTwoFactor'>): void =>
  void workspaces.update(db, { id }, rules)

/** Begins a deletion: members, keys, invites and roles go with it, so nobody has a way in. Belongs in a transaction. */
export function markWorkspaceDeleted(db: Database, id: string, now: number): void {
  workspaces.update(db, { id }, { deletedAt: now })
  for (const table of ['members', 'api_keys', 'invites', 'roles']) db.query(`DELETE FROM ${table} WHERE workspace_id = ?`).run(id)
}

/** Ids of workspaces whose deletion has begun and not ended. */
export const workspacesToRemove = (db: Database): string[] => workspaces.all(db, 'WHERE deleted_at IS NOT NULL').map(({ id }) => id)

/** Ends a deletion, with kept answers. Belongs in a transaction. @throws SQLiteError while the workspace has services or disks. */
export function removeWorkspaceRow(db: Database, id: string): void {
  db.query("DELETE FROM idempotency_keys WHERE scope >= $id || '/' AND scope < $id || '0'").run({ id })
  workspaces.remove(db, { id })
}

/** A workspace as its members see it. */
export const presentDetails = ({ id, name, email, requiresTwoFactor, createdAt }: StoredDetails): WorkspaceDetails => ({
  id,
  name,
  email,
  requiresTwoFactor,
  createdAt: new Date(createdAt).toISOString(),
})
