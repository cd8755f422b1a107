import type { ApiKeyCreate } from '../../../shared/api-key.ts'
import { AppError, invalidValue } from '../../../shared/error.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { newId } from '../../platform/id.ts'
import type { IdentityContext } from '../context.ts'
import { refuseEscalation, requireRole } from '../permissions/grant.ts'
import { defaultKeyRole } from '../permissions/rules.ts'
import { requireScope } from '../scopes/store.ts'
import { hashToken } from '../tokens/token.ts'
import { newKeySecret } from './secret.ts'
import { countKeys, findKey, insertKey, type StoredKey, staticTokenMaker } from './store.ts'

/** @throws AppError `validation_failed`, `not_found` for the scope, `forbidden` beyond the maker's right, `conflict` at the limit. */
export function createKey(
  context: Pick<IdentityContext, 'db' | 'now'>,
  maker: Actor,
  wanted: ApiKeyCreate,
): { key: StoredKey; secret: string } {
  const { db } = context
  const now = context.now()
  const { workspaceId } = maker
  const role = requireRole(db, workspaceId, wanted.role ?? defaultKeyRole(maker))
  refuseEscalation(maker, role)
  refuseManyKeys(db, workspaceId)
  const makersKey = maker.type === 'api_key' ? findKey(db, workspaceId, maker.id) : undefined
  const key: StoredKey = {
    id: newId('apiKey', now),
    workspaceId,
    name: wanted.name,
    role: role.name,
    scope: requireScope(db, workspaceId, wanted.scope),
    createdBy: userBehind(maker, makersKey),
    createdAt: now,
    expiresAt: endOf(wanted.expires_at, { now, latest: makersKey?.expiresAt ?? null }),
    lastUsedAt: null,
  }
  const secret = newKeySecret()
  insertKey(db, { ...key, secretHash: hashToken(secret) })
  return { key, secret }
}

export const MAX_KEYS = 1000

function refuseManyKeys(db: IdentityContext['db'], workspaceId: string): void {
  if (countKeys(db, workspaceId) >= MAX_KEYS)
    throw new AppError(
      'conflict',
      `This workspace has ${MAX_KEYS} API keys, the most there can be. Revoke those that nobody uses any more.`,
    )
}

/** A key made with a key belongs to the user of that one, so that it ends with their membership. */
function userBehind({ type, id }: Actor, makersKey: StoredKey | undefined): string {
  return type === 'static_token' ? staticTokenMaker : (makersKey?.createdBy ?? id)
}

/** A key made with a key does not outlive that one: else its end would bind nobody. */
function endOf(wanted: string | null | undefined, { now, latest }: { now: number; latest: number | null }): number | null {
  if (wanted == null) return latest
  const end = Date.parse(wanted)
  if (latest !== null && end > latest)
    throw invalidValue('/expires_at', `The key you use ends at ${new Date(latest).toISOString()}, and this one cannot end after it.`)
  if (end <= now) throw invalidValue('/expires_at', 'The end of the key is past. Give a time to come, or none for a key without end.')
  return end
}
