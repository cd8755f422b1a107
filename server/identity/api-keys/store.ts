import type { Database } from 'bun:sqlite'
import { type Columns, type Row, tableOf } from '../../platform/db/table.ts'
import { readSeeded } from '../memberships/seeded.ts'
import { type NamedScope, scopeColumn } from '../scopes/scope.ts'

/** Maker of the keys that the operator's static token made: they go with no account. */
export const staticTokenMaker = 'static_token'

/** A key as it is kept. Times are milliseconds since 1970. */
export interface StoredKey {
  id: string
  workspaceId: string
  name: string
  role: string
  scope: NamedScope
  /** Id of the user behind the key, also where another key of theirs made it; `static_token` for the operator's. */
  createdBy: string
  createdAt: number
  expiresAt: number | null
  /** Null until it is used, and up to a minute late. */
  lastUsedAt: number | null
}

interface NewKey extends StoredKey {
  secretHash: string
}

const columns: Columns<StoredKey> = {
  id: 'id',
  workspaceId: 'workspace_id',
  name: 'name',
  role: 'role',
  scope: { column: 'scope', as: scopeColumn },
  createdBy: 'created_by',
  createdAt: 'created_at',
  expiresAt: 'expires_at',
  lastUsedAt: 'last_used_at',
}
const keys = tableOf<StoredKey>('api_keys', columns)
const newKeys = tableOf<NewKey>('api_keys', { ...columns, secretHash: 'secret_hash' })

/** Adds a key, of whose secret there is only the hash. */
export const insertKey = (db: Database, key: NewKey): boolean => newKeys.insert(db, key)

// Asked with every request: a join would cost eight microseconds more than a look into the other table.
const byHash = `SELECT ${keys.columns} FROM api_keys WHERE secret_hash = ? AND (expires_at IS NULL OR expires_at > ?)
  AND NOT EXISTS (SELECT 1 FROM workspaces w WHERE w.id = api_keys.workspace_id AND w.deleted_at IS NOT NULL)`

/** The key whose secret has this hash; none that is over at `now`, or whose workspace is being deleted. */
export function findKeyByHash(db: Database, secretHash: string, now: number): StoredKey | undefined {
  const row = db.query<Row, [string, number]>(byHash).get(secretHash, now)
  return row === null ? undefined : keys.present(row)
}

/** A key of this workspace, expired or not; undefined where it has none of this id. */
export const findKey = (db: Database, workspaceId: string, id: string): StoredKey | undefined =>
  keys.get(db, 'WHERE workspace_id = $workspaceId AND id = $id', { workspaceId, id })

/** Keys of a workspace, newest first. */
export const listKeys = (db: Database, workspaceId: string): StoredKey[] =>
  keys.all(db, 'WHERE workspace_id = $workspaceId ORDER BY created_at DESC, rowid DESC', { workspaceId })

/** How many a workspace has, expired ones included. */
export const countKeys = (db: Database, workspaceId: string): number =>
  db.query<{ count: number }, [string]>('SELECT count(*) AS count FROM api_keys WHERE workspace_id = ?').get(workspaceId)?.count ?? 0

/** Removes a key of this workspace; false when it has none of this id. From then on its secret finds nothing. */
export const deleteKey = (db: Database, workspaceId: string, id: string): boolean => keys.remove(db, { workspaceId, id }) > 0

/** Removes the keys of a workspace that a user made, also with such a key, and gives them. Belongs in a transaction. */
export function revokeKeysOf(db: Database, workspaceId: string, userId: string): StoredKey[] {
  const made = listKeys(db, workspaceId).filter(({ createdBy }) => createdBy === userId)
  for (const { id } of made) deleteKey(db, workspaceId, id)
  return made
}

/** The user behind a key: for those of the operator's static token, the account that was seeded with it. */
export function findKeyMaker(db: Database, id: string): string | undefined {
  const maker = db.query<{ createdBy: string }, [string]>('SELECT created_by AS createdBy FROM api_keys WHERE id = ?').get(id)?.createdBy
  return maker === staticTokenMaker ? readSeeded(db)?.userId : maker
}

/** Writes down when a key was used last, in milliseconds since 1970. */
export const setLastUsed = (db: Database, id: string, now: number): void => void keys.update(db, { id }, { lastUsedAt: now })
