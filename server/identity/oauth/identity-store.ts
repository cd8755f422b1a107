import type { Database } from 'bun:sqlite'
import type { Identity, ProviderId } from '../../../shared/oauth.ts'
import { tableOf } from '../../platform/db/table.ts'

export interface StoredIdentity {
  issuer: string
  subject: string
  provider: ProviderId
  userId: string
  email: string | null
  createdAt: number
}

const identities = tableOf<StoredIdentity>('identities', {
  issuer: 'issuer',
  subject: 'subject',
  provider: 'provider',
  userId: 'user_id',
  email: 'email',
  createdAt: 'created_at',
})

/** Whose the account of this issuer is. */
export const findIdentity = (db: Database, issuer: string, subject: string): StoredIdentity | undefined =>
  identities.get(db, 'WHERE issuer = $issuer AND subject = $subject', { issuer, subject })

/** A user's account at a provider, of whatever issuer. */
export const findIdentityAt = (db: Database, userId: string, provider: ProviderId): StoredIdentity | undefined =>
  identities.get(db, 'WHERE user_id = $userId AND provider = $provider', { userId, provider })

/** Linked identities of a user by the name of their provider, those behind `after`. */
export const listIdentities = (
  db: Database,
  userId: string,
  { after = '', limit }: { after?: string | undefined; limit: number },
): StoredIdentity[] =>
  identities.all(db, 'WHERE user_id = $userId AND provider > $after ORDER BY provider LIMIT $limit', { userId, after, limit })

/** Links an account at a provider to a user, in the place of the one of that provider that was linked before. */
export function putIdentity(db: Database, identity: StoredIdentity): void {
  removeIdentity(db, identity.userId, identity.provider)
  identities.insert(db, identity)
}

/** Unlinks a provider. Look first, in the same transaction, that another way in is left. */
export const removeIdentity = (db: Database, userId: string, provider: ProviderId): void => void identities.remove(db, { userId, provider })

/** An identity as its user sees it, without the provider's own id for them. */
export const presentIdentity = ({ provider, issuer, email, createdAt }: StoredIdentity): Identity => ({
  provider,
  issuer,
  ...(email === null ? {} : { email }),
  createdAt: new Date(createdAt).toISOString(),
})
