import type { Database } from 'bun:sqlite'
import { hashToken, newToken } from '../tokens/token.ts'
import type { LinkWay } from './rules.ts'

export const RESET_MS = 3600_000

export interface NewReset {
  token: string
  expiresAt: number
}

/** Makes a token, stored as a hash, that sets the user's password once. One that is mailed only shows that the address is its owner's. */
export function createReset(db: Database, { userId, way }: { userId: string; way: LinkWay }, now: number): NewReset {
  const token = newToken()
  const expiresAt = now + RESET_MS
  db.query('DELETE FROM password_resets WHERE expires_at <= ?').run(now)
  db.query(
    'INSERT INTO password_resets (token_hash, user_id, is_mailed, created_at, expires_at) VALUES ($tokenHash, $userId, $isMailed, $now, $expiresAt)',
  ).run({
    tokenHash: hashToken(token),
    userId,
    isMailed: way === 'mailed' ? 1 : 0,
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

/** Whether a reset was sent to its address, so that whoever has the token reads mail there. */
export const wasMailed = (db: Database, token: string): boolean =>
  db
    .query<{ found: 1 }, [string]>('SELECT 1 AS found FROM password_resets WHERE token_hash = ? AND is_mailed = 1')
    .get(hashToken(token)) !== null
