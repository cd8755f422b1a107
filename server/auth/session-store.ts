import type { Database } from 'bun:sqlite'
import type { User } from '../../shared/auth.ts'
import { newId } from '../id.ts'
import { hashToken, newSessionToken } from './token.ts'

/** How long a session lasts; it ends then, used or not. */
export const SESSION_DAYS = 30
const SESSION_MS = SESSION_DAYS * 24 * 3600 * 1000

/** Begins a session and gives its token, which is stored only as a hash. Sessions that have ended are cleared away. */
export function createSession(db: Database, userId: string, now: number): string {
  const token = newSessionToken()
  forgetEndedSessions(db, now)
  db.query(
    `INSERT INTO sessions (id, user_id, kind, token_hash, address, client, created_at, last_seen_at, expires_at)
     VALUES ($id, $userId, 'browser', $hash, '', '', $now, $now, $expiresAt)`,
  ).run({ id: newId('session', now), userId, hash: hashToken(token), now, expiresAt: now + SESSION_MS })
  return token
}

/** Whose session it is; undefined when it is unknown or over. */
export const findSessionUser = (db: Database, token: string, now: number): User | undefined =>
  db
    .query<User, [string, number]>(
      'SELECT u.id, u.email, u.name FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.token_hash = ? AND s.expires_at > ?',
    )
    .get(hashToken(token), now) ?? undefined

/** Ends a session; nothing happens when it has ended before. */
export function deleteSession(db: Database, token: string): void {
  db.query('DELETE FROM sessions WHERE token_hash = ?').run(hashToken(token))
}

/** Removes the sessions that are over at `now`. */
export function forgetEndedSessions(db: Database, now: number): void {
  db.query('DELETE FROM sessions WHERE expires_at <= ?').run(now)
}
