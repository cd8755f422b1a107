import type { Database } from 'bun:sqlite'
import type { ApiKey, ApiKeyCreate, ApiKeyCreated } from '../../shared/api-key.ts'
import { AppError } from '../../shared/error.ts'
import { holdsAll } from '../../shared/permission.ts'
import { hashToken } from '../auth/token.ts'
import type { Actor } from '../http/call.ts'
import { newId } from '../id.ts'
import { defaultKeyRole, isRole, permissionsOf } from '../roles/rules.ts'
import { newKeySecret } from './secret.ts'
import { insertKey, type StoredKey } from './store.ts'

/**
 * Makes a key that acts in the maker's workspace. Its secret is in the answer only.
 *
 * @throws AppError `validation_failed` for a role that does not exist, `forbidden` for one that may do more than the maker.
 */
export function createKey(db: Database, maker: Actor, wanted: ApiKeyCreate, now: number): ApiKeyCreated {
  const role = wanted.role ?? defaultKeyRole(maker)
  refuseEscalation(maker, role)
  const secret = newKeySecret()
  const key: StoredKey = { id: newId('apiKey', now), workspaceId: maker.workspaceId, name: wanted.name, role, createdAt: now }
  insertKey(db, { ...key, secretHash: hashToken(secret), createdBy: maker.id })
  return { ...presentKey(key), secret }
}

/** Nobody hands out what they lack. */
function refuseEscalation(maker: Actor, role: string): void {
  if (!isRole(role)) {
    throw new AppError('validation_failed', `There is no role "${role}". GET /v1/roles lists those there are.`, {
      details: [{ path: '/role', message: 'is not the name of a role' }],
    })
  }
  if (!holdsAll(maker.permissions, permissionsOf(role))) {
    throw new AppError('forbidden', `The role "${role}" may do more than your own role "${maker.role}". Choose a smaller one.`)
  }
}

/** The key as callers see it, in the four fields that are fixed. */
export const presentKey = ({ id, name, role, createdAt }: StoredKey): ApiKey => ({
  id,
  name,
  role,
  created_at: new Date(createdAt).toISOString(),
})
