import type { Database } from 'bun:sqlite'
import { hashToken, newSessionToken } from '../auth/token.ts'

/** How long a link to set a new password is good for. */
export const RESET_MS = 3600_000

export interface NewReset {
  token: string
  expiresAt: number
}

/** Makes a token with which the user's password can be set, once. It is given here only, and stored as a hash. */
export function createReset(db: Database, userId: string, now: number): NewReset {
  const token = newSessionToken()
  const expiresAt = now + RESET_MS
  db.query('DELETE FROM password_resets WHERE expires_at <= ?').run(now)
  db.query('INSERT INTO password_resets (token_hash, user_id, created_at, expires_at) VALUES ($tokenHash, $userId, $now, $expiresAt)').run({
    tokenHash: hashToken(token),
    userId,
    now,
    expiresAt,
  })
  return { token, expiresAt }
}

/** Whose password the token sets; undefined when it is unknown, used or expired. */
export const findReset = (db: Database, token: string, now: number): string | undefined =>
  db
    .query<{ userId: string }, [string, number]>('SELECT user_id AS userId FROM password_resets WHERE token_hash = ? AND expires_at > ?')
    .get(hashToken(token), now)?.userId
