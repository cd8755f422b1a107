import type { ApiKey, ApiKeyDetails } from '../../../shared/api-key.ts'
import { presentScope } from '../scopes/scope.ts'
import type { StoredKey } from './store.ts'

export const presentKey = ({ id, name, role, createdAt }: StoredKey): ApiKey => ({ id, name, role, created_at: timeOf(createdAt) })

export const presentKeyDetails = (key: StoredKey): ApiKeyDetails => ({
  ...presentKey(key),
  scope: presentScope(key.scope),
  expires_at: key.expiresAt === null ? null : timeOf(key.expiresAt),
  last_used_at: key.lastUsedAt === null ? null : timeOf(key.lastUsedAt),
  created_by: key.createdBy,
})

const timeOf = (at: number): string => new Date(at).toISOString()
