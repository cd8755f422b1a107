import type { Database } from 'bun:sqlite'
import type { Session } from '../../../shared/account.ts'
import { credentialOf } from '../../http/access/credential.ts'
import { findSession, type SessionRef } from '../sessions/store.ts'

interface ListedSession {
  id: string
  kind: Session['kind']
  address: string
  client: string
  createdAt: number
  lastSeenAt: number
  expiresAt: number
}

/** The sessions of a user that last, newest first, strictly after the one of id `after`. */
export const listSessions = (
  db: Database,
  { userId, after, limit, now }: { userId: string; after: string | undefined; limit: number; now: number },
): ListedSession[] =>
  db
    .query<ListedSession, { userId: string; after: string | null; limit: number; now: number }>(
      `SELECT id, kind, address, client, created_at AS createdAt, last_seen_at AS lastSeenAt, expires_at AS expiresAt FROM sessions
       WHERE user_id = $userId AND expires_at > $now AND ($after IS NULL OR id < $after) ORDER BY id DESC LIMIT $limit`,
    )
    .all({ userId, after: after ?? null, limit, now })

/** Ends a session of this user. False when they have none of this id. */
export const deleteSessionById = (db: Database, userId: string, sessionId: string): boolean =>
  db.query('DELETE FROM sessions WHERE id = $sessionId AND user_id = $userId').run({ userId, sessionId }).changes === 1

/** The session that a request shows, by cookie or by access token of a device; undefined for other credentials. */
export function sessionOf(db: Database, request: Request): SessionRef | undefined {
  const credential = credentialOf(request.headers)
  return credential.kind === 'session' || credential.kind === 'bearer' ? findSession(db, credential.token) : undefined
}

/** A session as its user sees it. */
export const presentSession = (
  { createdAt, lastSeenAt, expiresAt, ...session }: ListedSession,
  currentId: string | undefined,
): Session => ({
  ...session,
  createdAt: new Date(createdAt).toISOString(),
  lastSeenAt: new Date(lastSeenAt).toISOString(),
  expiresAt: new Date(expiresAt).toISOString(),
  isCurrent: session.id === currentId,
})
