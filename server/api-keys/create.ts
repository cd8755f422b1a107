import type { Database } from 'bun:sqlite'
import type { ApiKey, ApiKeyCreate, ApiKeyCreated } from '../../shared/api-key.ts'
import { hashToken } from '../auth/token.ts'
import type { Actor } from '../http/call.ts'
import { newId } from '../id.ts'
import { refuseEscalation, requireRole } from '../roles/grant.ts'
import { defaultKeyRole } from '../roles/rules.ts'
import { newKeySecret } from './secret.ts'
import { insertKey, type StoredKey } from './store.ts'

/**
 * Makes a key that acts in the maker's workspace. Its secret is in the answer only.
 *
 * @throws AppError `validation_failed` for a role that does not exist, `forbidden` for one that may do more than the maker.
 */
export function createKey(db: Database, maker: Actor, wanted: ApiKeyCreate, now: number): ApiKeyCreated {
  const role = requireRole(db, maker.workspaceId, wanted.role ?? defaultKeyRole(maker))
  refuseEscalation(maker, role)
  const secret = newKeySecret()
  const key: StoredKey = { id: newId('apiKey', now), workspaceId: maker.workspaceId, name: wanted.name, role: role.name, createdAt: now }
  insertKey(db, { ...key, secretHash: hashToken(secret), createdBy: maker.id })
  return { ...presentKey(key), secret }
}

/** The key as callers see it, in the four fields that are fixed. */
export const presentKey = ({ id, name, role, createdAt }: StoredKey): ApiKey => ({
  id,
  name,
  role,
  created_at: new Date(createdAt).toISOString(),
})
