/**
 * All refresh tokens of a session share a random family, so that a spent one is known: two hold it, and the session ends for both. Programs
 * that share a login refresh it several times at once: for a minute a spent token gets the answer that it got before.
 */
import type { Database } from 'bun:sqlite'
import { DeviceTokens } from '../../../shared/device.ts'
import { json } from '../../platform/db/json-column.ts'
import { tableOf } from '../../platform/db/table.ts'
import { newId } from '../../platform/id.ts'
import type { Sealer } from '../../platform/secrets/seal.ts'
import { forgetEndedSessions, type StoredSession, sessionColumns } from '../sessions/store.ts'
import { hashToken } from '../tokens/token.ts'
import { hashFamily, newAccessToken, newRefreshFamily, newRefreshToken, refreshFamilyOf } from './codes.ts'
import { DEVICE_SESSION_MS, REFRESH_GRACE_MS } from './rules.ts'

interface DeviceSession extends StoredSession {
  tokenHash: string
  tokenExpiresAt: number
  tokenLifetimeMs: number
  familyHash: string
  refreshHash: string
  spentHash: string | null
  spentAt: number | null
  spentAnswer: string | null
}

const deviceSessions = tableOf<DeviceSession>('sessions', {
  ...sessionColumns,
  tokenHash: 'token_hash',
  tokenExpiresAt: 'token_expires_at',
  tokenLifetimeMs: 'token_lifetime_ms',
  familyHash: 'refresh_family_hash',
  refreshHash: 'refresh_hash',
  spentHash: 'spent_refresh_hash',
  spentAt: 'spent_at',
  spentAnswer: 'spent_answer_sealed',
})

interface NewDeviceSession {
  userId: string
  client: string
  address: string
  tokenLifetimeMs: number
  now: number
}

/** Begins the session of a device. Its tokens are given here only, and stored as hashes. */
export function createDeviceSession(db: Database, { tokenLifetimeMs, now, ...session }: NewDeviceSession): DeviceTokens {
  const family = newRefreshFamily()
  const issued = issue(family, tokenLifetimeMs)
  forgetEndedSessions(db, now)
  deviceSessions.insert(db, {
    ...session,
    ...hashesOf(issued),
    id: newId('session', now),
    kind: 'device',
    familyHash: hashFamily(family),
    tokenLifetimeMs,
    tokenExpiresAt: now + tokenLifetimeMs,
    createdAt: now,
    lastSeenAt: now,
    expiresAt: now + DEVICE_SESSION_MS,
  })
  return issued
}

export type Refreshed =
  | { outcome: 'refreshed'; tokens: DeviceTokens }
  | { outcome: 'reused'; userId: string; client: string }
  | { outcome: 'unknown' }

/** Exchanges a refresh token for the next. Belongs in a transaction, which is to be kept whatever the outcome. */
export function refreshSession({ db, sealer }: { db: Database; sealer: Sealer }, refreshToken: string, now: number): Refreshed {
  const family = refreshFamilyOf(refreshToken)
  const session = family === undefined ? undefined : findByFamily(db, family)
  if (family === undefined || session === undefined) return { outcome: 'unknown' }
  const hash = hashToken(refreshToken)
  const repeated = session.refreshHash === hash ? undefined : answerOf(sealer, session, { hash, now })
  if (repeated !== undefined) return { outcome: 'refreshed', tokens: repeated }
  if (session.refreshHash !== hash) {
    deviceSessions.remove(db, { id: session.id })
    return { outcome: 'reused', userId: session.userId, client: session.client }
  }
  if (session.expiresAt <= now) return { outcome: 'unknown' }
  const lifetimeMs = Math.min(session.tokenLifetimeMs, session.expiresAt - now)
  const tokens = issue(family, lifetimeMs)
  const spentAnswer = sealer.seal(JSON.stringify(tokens), answerPurpose(session.id))
  const spent = { spentHash: hash, spentAt: now, spentAnswer }
  deviceSessions.update(db, { id: session.id }, { ...hashesOf(tokens), tokenExpiresAt: now + lifetimeMs, lastSeenAt: now, ...spent })
  return { outcome: 'refreshed', tokens }
}

const answers = json({ schema: DeviceTokens })

function answerOf(sealer: Sealer, session: DeviceSession, { hash, now }: { hash: string; now: number }): DeviceTokens | undefined {
  const { spentHash, spentAt, spentAnswer } = session
  if (spentHash !== hash || spentAt === null || spentAnswer === null || now - spentAt >= REFRESH_GRACE_MS) return undefined
  return answers.read(sealer.open(spentAnswer, answerPurpose(session.id)))
}

/** Removes the answers whose grace is over: tokens that are good for days are kept no longer than they are asked for. */
export function forgetSpentAnswers(db: Database, now: number): void {
  db.query('UPDATE sessions SET spent_answer_sealed = NULL WHERE spent_answer_sealed IS NOT NULL AND spent_at <= ?').run(
    now - REFRESH_GRACE_MS,
  )
}

const answerPurpose = (sessionId: string): string => `refresh answer ${sessionId}`

/** Ends the session that the access or refresh token is of, also when it has run out, and gives whose it was. */
export function endSessionOf(db: Database, token: string): { userId: string; client: string } | undefined {
  const family = refreshFamilyOf(token)
  const [column, hash] = family === undefined ? ['token_hash', hashToken(token)] : ['refresh_family_hash', hashFamily(family)]
  return (
    db
      .query<{ userId: string; client: string }, [string]>(
        `DELETE FROM sessions WHERE ${column} = ? AND kind = 'device' RETURNING user_id AS userId, client`,
      )
      .get(hash) ?? undefined
  )
}

const findByFamily = (db: Database, family: string): DeviceSession | undefined =>
  deviceSessions.get(db, 'WHERE refresh_family_hash = $familyHash', { familyHash: hashFamily(family) })

const issue = (family: string, lifetimeMs: number): DeviceTokens => ({
  access_token: newAccessToken(),
  token_type: 'Bearer',
  expires_in: Math.max(1, Math.floor(lifetimeMs / 1000)),
  refresh_token: newRefreshToken(family),
})

const hashesOf = (tokens: DeviceTokens) => ({ tokenHash: hashToken(tokens.access_token), refreshHash: hashToken(tokens.refresh_token) })
