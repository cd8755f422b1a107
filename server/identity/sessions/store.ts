import type { Database } from 'bun:sqlite'
import type { User } from '../../../shared/auth.ts'
import { newId } from '../../platform/id.ts'
import { hashToken, newToken } from '../tokens/token.ts'

/** How long a session lasts; it ends then, used or not. */
export const SESSION_DAYS = 30
const SESSION_MS = SESSION_DAYS * 24 * 3600 * 1000
/** When somebody was last seen is written no more often than this. */
const SEEN_INTERVAL_MS = 60_000

/** From where and with what somebody signs in. */
export interface SessionPlace {
  address: string
  /** What the client calls itself. */
  client: string
}

/** Whose session it is, as of now. */
export interface SessionUser extends User {
  sessionId: string
  hasTwoFactor: boolean
}

/** Begins a browser's session and gives its token, which is stored only as a hash. Sessions that have ended are cleared away. */
export function createSession(db: Database, { userId, place, now }: { userId: string; place: SessionPlace; now: number }): string {
  const token = newToken()
  forgetEndedSessions(db, now)
  db.query(
    `INSERT INTO sessions (id, user_id, kind, token_hash, address, client, created_at, last_seen_at, expires_at)
     VALUES ($id, $userId, 'browser', $hash, $address, $client, $now, $now, $expiresAt)`,
  ).run({ id: newId('session', now), userId, hash: hashToken(token), ...place, now, expiresAt: now + SESSION_MS })
  return token
}

interface SessionRow {
  sessionId: string
  userId: string
  lastSeenAt: number
}

interface UserRow extends User {
  hasTwoFactor: number
}

const sessions = 'SELECT id AS sessionId, user_id AS userId, last_seen_at AS lastSeenAt FROM sessions'

/** Whose session of a browser it is; undefined when it is unknown or over. That they were seen is noted. */
export const findSessionUser = (db: Database, token: string, now: number): SessionUser | undefined =>
  findUserOf(db, { kind: 'browser', token }, now)

/** The same of a device, by its access token. */
export const findDeviceUser = (db: Database, token: string, now: number): SessionUser | undefined =>
  findUserOf(db, { kind: 'device', token }, now)

function findUserOf(db: Database, { kind, token }: { kind: 'browser' | 'device'; token: string }, now: number): SessionUser | undefined {
  const row = db
    .query<SessionRow, [string, string, number, number]>(
      `${sessions} WHERE token_hash = ? AND kind = ? AND expires_at > ? AND (token_expires_at IS NULL OR token_expires_at > ?)`,
    )
    .get(hashToken(token), kind, now, now)
  return row === null ? undefined : seen(db, row, now)
}

/** Whose session has this id, whatever became of its tokens; undefined when it is over. */
export function findSessionUserById(db: Database, sessionId: string, now: number): SessionUser | undefined {
  const row = db.query<SessionRow, [string, number]>(`${sessions} WHERE id = ? AND expires_at > ?`).get(sessionId, now)
  return row === null ? undefined : seen(db, row, now)
}

/** Which session it is, and since when (ms since 1970). */
export interface SessionRef {
  id: string
  createdAt: number
}

/** The session that a token, of a browser or a device, is of; whether it is over is not looked at. */
export const findSession = (db: Database, token: string): SessionRef | undefined =>
  db.query<SessionRef, [string]>('SELECT id, created_at AS createdAt FROM sessions WHERE token_hash = ?').get(hashToken(token)) ?? undefined

/** The user is looked up apart: asked with every request, a join would cost eight microseconds more. */
function seen(db: Database, { sessionId, userId, lastSeenAt }: SessionRow, now: number): SessionUser | undefined {
  const user = db
    .query<UserRow, [string]>('SELECT id, email, name, totp_confirmed_at IS NOT NULL AS hasTwoFactor FROM users WHERE id = ?')
    .get(userId)
  if (user === null) return undefined
  if (now - lastSeenAt >= SEEN_INTERVAL_MS) noteSeen(db, { sessionId, id: userId }, now)
  return { ...user, sessionId, hasTwoFactor: user.hasTwoFactor === 1 }
}

function noteSeen(db: Database, { sessionId, id }: { sessionId: string; id: string }, now: number): void {
  db.query('UPDATE sessions SET last_seen_at = $now WHERE id = $sessionId').run({ sessionId, now })
  noteUserSeen(db, id, now)
}

/** Notes that somebody has signed in or done something. */
export function noteUserSeen(db: Database, userId: string, now: number): void {
  db.query('UPDATE users SET last_seen_at = $now WHERE id = $userId').run({ userId, now })
}

/** Ends a session; nothing happens when it has ended before. */
export function deleteSession(db: Database, token: string): void {
  db.query('DELETE FROM sessions WHERE token_hash = ?').run(hashToken(token))
}

/** Ends every session of a user, of browsers and devices, but the one of this id. */
export function deleteSessionsOf(db: Database, userId: string, exceptId = ''): void {
  db.query('DELETE FROM sessions WHERE user_id = $userId AND id <> $exceptId').run({ userId, exceptId })
}

/** Removes the sessions that are over at `now`. */
export function forgetEndedSessions(db: Database, now: number): void {
  db.query('DELETE FROM sessions WHERE expires_at <= ?').run(now)
}
