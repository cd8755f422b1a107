import type { Database } from 'bun:sqlite'
import type { Session } from '../../../shared/account.ts'
import { credentialOf } from '../../http/access/credential.ts'
import type { IdPage } from '../../http/answers/page.ts'
import { findSession, type StoredSession, sessions } from '../sessions/store.ts'

/** A page of the sessions of a user that have not ended at `now`, newest first. */
export const listSessions = (db: Database, userId: string, { beforeId = '~', limit, now }: IdPage & { now: number }): StoredSession[] =>
  sessions.all(db, 'WHERE user_id = $userId AND expires_at > $now AND id < $beforeId ORDER BY id DESC LIMIT $limit', {
    userId,
    beforeId,
    limit,
    now,
  })

export const deleteSessionById = (db: Database, userId: string, sessionId: string): boolean =>
  sessions.remove(db, { id: sessionId, userId }) === 1

export function sessionOf(db: Database, request: Request): StoredSession | undefined {
  const credential = credentialOf(request.headers)
  return credential.kind === 'session' || credential.kind === 'bearer' ? findSession(db, credential.token) : undefined
}

export const presentSession = (
  { id, kind, address, client, createdAt, lastSeenAt, expiresAt }: StoredSession,
  currentId: string | undefined,
): Session => ({
  id,
  kind,
  address,
  client,
  createdAt: new Date(createdAt).toISOString(),
  lastSeenAt: new Date(lastSeenAt).toISOString(),
  expiresAt: new Date(expiresAt).toISOString(),
  isCurrent: id === currentId,
})
