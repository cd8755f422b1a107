import type { Database } from 'bun:sqlite'

export interface StoredKey {
  id: string
  workspaceId: string
  name: string
  role: string
  createdAt: number
}

interface NewKey extends StoredKey {
  secretHash: string
  createdBy: string
}

const columns = 'id, workspace_id AS workspaceId, name, role, created_at AS createdAt'

/** Adds a key; its secret comes as a hash only. */
export function insertKey(db: Database, key: NewKey): void {
  db.query(
    `INSERT INTO api_keys (id, workspace_id, name, role, secret_hash, created_by, created_at)
     VALUES ($id, $workspaceId, $name, $role, $secretHash, $createdBy, $createdAt)`,
  ).run({ ...key })
}

/** The key whose secret has this hash. */
export const findKeyByHash = (db: Database, secretHash: string): StoredKey | undefined =>
  db.query<StoredKey, [string]>(`SELECT ${columns} FROM api_keys WHERE secret_hash = ?`).get(secretHash) ?? undefined

/** Keys of a workspace, newest first. */
export const listKeys = (db: Database, workspaceId: string): StoredKey[] =>
  db
    .query<StoredKey, [string]>(`SELECT ${columns} FROM api_keys WHERE workspace_id = ? ORDER BY created_at DESC, rowid DESC`)
    .all(workspaceId)

/** Removes a key of this workspace; false when it has none of this id. From then on its secret finds nothing. */
export function deleteKey(db: Database, workspaceId: string, id: string): boolean {
  return db.query('DELETE FROM api_keys WHERE workspace_id = ? AND id = ?').run(workspaceId, id).changes > 0
}

/** The user who made a key. */
export const findKeyMaker = (db: Database, id: string): string | undefined =>
  db.query<{ createdBy: string }, [string]>('SELECT created_by AS createdBy FROM api_keys WHERE id = ?').get(id)?.createdBy
