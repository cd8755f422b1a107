import type { Database } from 'bun:sqlite'
import type { Session } from '../../../shared/account.ts'
import type { User } from '../../../shared/auth.ts'
import { type Columns, tableOf } from '../../platform/db/table.ts'
import { newId } from '../../platform/id.ts'
import { hashToken, newToken } from '../tokens/token.ts'

export const SESSION_DAYS = 30
const SESSION_MS = SESSION_DAYS * 24 * 3600 * 1000
const SEEN_INTERVAL_MS = 60_000

export interface SessionPlace {
  address: string
  client: string
}

export interface SessionUser extends User {
  sessionId: string
  hasTwoFactor: boolean
}

/** A session of a browser or a device, as it is stored. Times are milliseconds since 1970. */
export interface StoredSession extends SessionPlace {
  id: string
  userId: string
  kind: Session['kind']
  createdAt: number
  lastSeenAt: number
  expiresAt: number
}

interface NewSession extends StoredSession {
  tokenHash: string
}

export const sessionColumns: Columns<StoredSession> = {
  id: 'id',
  userId: 'user_id',
  kind: 'kind',
  address: 'address',
  client: 'client',
  createdAt: 'created_at',
  lastSeenAt: 'last_seen_at',
  expiresAt: 'expires_at',
}
export const sessions = tableOf<StoredSession>('sessions', sessionColumns)
const newSessions = tableOf<NewSession>('sessions', { ...sessionColumns, tokenHash: 'token_hash' })

/** Begins a browser's session and gives its token, which is stored only as a hash. Sessions that have ended are cleared away. */
export function createSession(db: Database, { userId, place, now }: { userId: string; place: SessionPlace; now: number }): string {
  const token = newToken()
  const { address, client } = place
  forgetEndedSessions(db, now)
  const times = { createdAt: now, lastSeenAt: now, expiresAt: now + SESSION_MS }
  newSessions.insert(db, { id: newId('session', now), userId, kind: 'browser', tokenHash: hashToken(token), address, client, ...times })
  return token
}

interface UserRow extends User {
  hasTwoFactor: number
}

/** Whose session of a browser it is; undefined when it is unknown or over. That they were seen is noted. */
export const findSessionUser = (db: Database, token: string, now: number): SessionUser | undefined =>
  findUserOf(db, { kind: 'browser', token }, now)

/** Whose access token of a device this is; undefined when it or its session is over. */
export const findDeviceUser = (db: Database, token: string, now: number): SessionUser | undefined =>
  findUserOf(db, { kind: 'device', token }, now)

type SessionRow = Pick<StoredSession, 'id' | 'userId' | 'lastSeenAt'>

// Asked with every request: whole rows would cost another microsecond.
const byToken = `SELECT id, user_id AS userId, last_seen_at AS lastSeenAt FROM sessions
  WHERE token_hash = ? AND kind = ? AND expires_at > ? AND (token_expires_at IS NULL OR token_expires_at > ?)`

function findUserOf(db: Database, { kind, token }: { kind: Session['kind']; token: string }, now: number): SessionUser | undefined {
  const session = db.query<SessionRow, [string, string, number, number]>(byToken).get(hashToken(token), kind, now, now)
  return session === null ? undefined : seen(db, session, now)
}

/** Whose session has this id, whatever became of its tokens; undefined when it is over. */
export function findSessionUserById(db: Database, sessionId: string, now: number): SessionUser | undefined {
  const session = sessions.get(db, 'WHERE id = $sessionId AND expires_at > $now', { sessionId, now })
  return session && seen(db, session, now)
}

/** The session that a token, of a browser or a device, is of; whether it is over is not looked at. */
export const findSession = (db: Database, token: string): StoredSession | undefined =>
  sessions.get(db, 'WHERE token_hash = $hash', { hash: hashToken(token) })

/** The user is looked up apart: asked with every request, a join would cost eight microseconds more. */
function seen(db: Database, { id: sessionId, userId, lastSeenAt }: SessionRow, now: number): SessionUser | undefined {
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

/** Writes down when a user was seen last, in milliseconds since 1970. */
export function noteUserSeen(db: Database, userId: string, now: number): void {
  db.query('UPDATE users SET last_seen_at = $now WHERE id = $userId').run({ userId, now })
}

/** Ends the session of a token, if there is one. */
export function deleteSession(db: Database, token: string): void {
  db.query('DELETE FROM sessions WHERE token_hash = ?').run(hashToken(token))
}

/** Ends every session of a user, of browsers and devices, but the one of this id. */
export function deleteSessionsOf(db: Database, userId: string, exceptId = ''): void {
  db.query('DELETE FROM sessions WHERE user_id = $userId AND id <> $exceptId').run({ userId, exceptId })
}

/** Removes sessions that are over. */
export function forgetEndedSessions(db: Database, now: number): void {
  db.query('DELETE FROM sessions WHERE expires_at <= ?').run(now)
}
