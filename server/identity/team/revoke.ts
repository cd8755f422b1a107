import type { Database } from 'bun:sqlite'
import { revokeKeysOf } from '../api-keys/store.ts'

export interface Revoked {
  revokedKeys: { id: string; name: string }[]
  withdrawnInvites: { id: string; email: string }[]
}

/** Revokes the keys that a user made, and takes back the invites of the user and of these keys. Belongs in a transaction. */
export function revokeMadeBy(db: Database, workspaceId: string, userId: string): Revoked {
  const keys = revokeKeysOf(db, workspaceId, userId).map(({ id, name }) => ({ id, name }))
  const inviters = [`user ${userId}`, ...keys.map(({ id }) => `api_key ${id}`)]
  const invites = db
    .query<Revoked['withdrawnInvites'][number], [string, string]>(
      `DELETE FROM invites WHERE workspace_id = ? AND inviter_type || ' ' || inviter_id IN (SELECT value FROM json_each(?)) RETURNING id, email`,
    )
    .all(workspaceId, JSON.stringify(inviters))
  return { revokedKeys: keys, withdrawnInvites: invites }
}
