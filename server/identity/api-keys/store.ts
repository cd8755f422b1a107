import type { Database } from 'bun:sqlite'
import { readSeeded } from '../memberships/seeded.ts'
import { type ServiceScope, scopeIn, scopeText } from '../scopes/scope.ts'

/** Who made the keys that the operator's static token made: they go with no account. */
export const staticTokenMaker = 'static_token'

/** A key as it is kept. Times are milliseconds since 1970. */
export interface StoredKey {
  id: string
  workspaceId: string
  name: string
  role: string
  scope: ServiceScope
  /** Id of the user behind it, also where another key of theirs made it; `static_token` for the operator's. */
  createdBy: string
  createdAt: number
  /** Null is never. */
  expiresAt: number | null
  /** Null until it is used, and up to a minute late. */
  lastUsedAt: number | null
}

interface KeyRow extends Omit<StoredKey, 'scope'> {
  scope: string | null
}

const columns = `k.id, k.workspace_id AS workspaceId, k.name, k.role, k.scope, k.created_by AS createdBy, k.created_at AS createdAt,
  k.expires_at AS expiresAt, k.last_used_at AS lastUsedAt`

/** Adds a key; its secret comes as a hash only. */
export function insertKey(db: Database, { scope, ...key }: StoredKey & { secretHash: string }): void {
  db.query(
    `INSERT INTO api_keys (id, workspace_id, name, role, scope, secret_hash, created_by, created_at, expires_at, last_used_at)
     VALUES ($id, $workspaceId, $name, $role, $scope, $secretHash, $createdBy, $createdAt, $expiresAt, $lastUsedAt)`,
  ).run({ ...key, scope: scopeText(scope) })
}

// Asked with every request: a join would cost eight microseconds more than a look into the other table.
const byHash = `SELECT ${columns} FROM api_keys k WHERE k.secret_hash = ? AND (k.expires_at IS NULL OR k.expires_at > ?)
  AND NOT EXISTS (SELECT 1 FROM workspaces w WHERE w.id = k.workspace_id AND w.deleted_at IS NOT NULL)`

/** The key whose secret has this hash; none that is over at `now`, or whose workspace is being deleted. */
export const findKeyByHash = (db: Database, secretHash: string, now: number): StoredKey | undefined =>
  one(db.query<KeyRow, [string, number]>(byHash).get(secretHash, now))

/** The key of this id in the workspace, also one that is over. */
export const findKey = (db: Database, workspaceId: string, id: string): StoredKey | undefined =>
  one(db.query<KeyRow, [string, string]>(`SELECT ${columns} FROM api_keys k WHERE k.workspace_id = ? AND k.id = ?`).get(workspaceId, id))

/** Keys of a workspace, newest first. */
export const listKeys = (db: Database, workspaceId: string): StoredKey[] =>
  db
    .query<KeyRow, [string]>(`SELECT ${columns} FROM api_keys k WHERE k.workspace_id = ? ORDER BY k.created_at DESC, k.rowid DESC`)
    .all(workspaceId)
    .map(present)

/** How many keys a workspace has, those that are over included. */
export const countKeys = (db: Database, workspaceId: string): number =>
  db.query<{ count: number }, [string]>('SELECT count(*) AS count FROM api_keys WHERE workspace_id = ?').get(workspaceId)?.count ?? 0

/** Removes a key of this workspace; false when it has none of this id. From then on its secret finds nothing. */
export function deleteKey(db: Database, workspaceId: string, id: string): boolean {
  return db.query('DELETE FROM api_keys WHERE workspace_id = ? AND id = ?').run(workspaceId, id).changes > 0
}

/** Removes the keys of a workspace that a user made, those made with such a key included, and gives them. Belongs into a transaction. */
export function revokeKeysOf(db: Database, workspaceId: string, userId: string): StoredKey[] {
  const keys = listKeys(db, workspaceId).filter(({ createdBy }) => createdBy === userId)
  for (const { id } of keys) deleteKey(db, workspaceId, id)
  return keys
}

/** The user behind a key: for those of the operator's static token, the account that was seeded with it. */
export function findKeyMaker(db: Database, id: string): string | undefined {
  const maker = db.query<{ createdBy: string }, [string]>('SELECT created_by AS createdBy FROM api_keys WHERE id = ?').get(id)?.createdBy
  return maker === staticTokenMaker ? readSeeded(db)?.userId : maker
}

/** Writes down that a key was used; nothing when it is gone. */
export function setLastUsed(db: Database, id: string, now: number): void {
  db.query('UPDATE api_keys SET last_used_at = ? WHERE id = ?').run(now, id)
}

const one = (row: KeyRow | null): StoredKey | undefined => (row === null ? undefined : present(row))

const present = (row: KeyRow): StoredKey => ({ ...row, scope: scopeIn(row.scope) })
