import type { Database } from 'bun:sqlite'
import type { Identity, ProviderId } from '../../../shared/oauth.ts'

/** An account at a provider, and whose it is here. */
export interface StoredIdentity {
  issuer: string
  subject: string
  provider: ProviderId
  userId: string
  email: string | null
  createdAt: number
}

const select = 'SELECT issuer, subject, provider, user_id AS userId, email, created_at AS createdAt FROM identities'

/** Whose the account of this issuer is. */
export const findIdentity = (db: Database, issuer: string, subject: string): StoredIdentity | undefined =>
  db.query<StoredIdentity, [string, string]>(`${select} WHERE issuer = ? AND subject = ?`).get(issuer, subject) ?? undefined

/** A user's account at a provider, of whatever issuer. */
export const findIdentityAt = (db: Database, userId: string, provider: ProviderId): StoredIdentity | undefined =>
  db.query<StoredIdentity, [string, string]>(`${select} WHERE user_id = ? AND provider = ?`).get(userId, provider) ?? undefined

/** A user's accounts at providers, by the name of the provider, at most one each. */
export const listIdentities = (db: Database, userId: string, page: { after?: string | undefined; limit: number }): StoredIdentity[] =>
  db
    .query<StoredIdentity, [string, string, number]>(`${select} WHERE user_id = ? AND provider > ? ORDER BY provider LIMIT ?`)
    .all(userId, page.after ?? '', page.limit)

/** Links an account at a provider to a user, in the place of the one of that provider that was linked before. */
export function putIdentity(db: Database, identity: StoredIdentity): void {
  removeIdentity(db, identity.userId, identity.provider)
  db.query(
    `INSERT INTO identities (issuer, subject, provider, user_id, email, created_at)
     VALUES ($issuer, $subject, $provider, $userId, $email, $createdAt)`,
  ).run({ ...identity })
}

/** Unlinks a user's account at a provider. */
export function removeIdentity(db: Database, userId: string, provider: ProviderId): void {
  db.query('DELETE FROM identities WHERE user_id = ? AND provider = ?').run(userId, provider)
}

/** The identity as its owner sees it. */
export const presentIdentity = ({ provider, issuer, email, createdAt }: StoredIdentity): Identity => ({
  provider,
  issuer,
  ...(email === null ? {} : { email }),
  createdAt: new Date(createdAt).toISOString(),
})
