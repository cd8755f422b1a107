/** A sign-in whose first factor was shown at a provider. The browser's token is good for nothing but the second. */
import type { Database } from 'bun:sqlite'
import { AppError } from '../../../shared/error.ts'
import { browsersNameOf } from '../../http/access/own-cookies.ts'
import type { SessionPlace } from '../sessions/store.ts'
import { proofCountersOf } from '../throttle/login-counters.ts'
import { hashToken, newToken } from '../tokens/token.ts'
import type { SecondFactorUsed } from '../two-factor/second-factor.ts'
import { findUser, type StoredUser } from '../users/store.ts'
import { beginSession, requireSecondFactor, type SignIn, type SignInDeps } from './sign-in.ts'

export const PENDING_MS = 10 * 60_000

const pendingCookie = 'cpd_pending'

export function beginPendingSignIn(db: Database, userId: string, now: number): string {
  const token = newToken()
  db.query('DELETE FROM pending_sign_ins WHERE expires_at <= ?').run(now)
  db.query('INSERT INTO pending_sign_ins (token_hash, user_id, created_at, expires_at) VALUES ($hash, $userId, $now, $expiresAt)').run({
    hash: hashToken(token),
    userId,
    now,
    expiresAt: now + PENDING_MS,
  })
  return token
}

export function findPendingUser(db: Database, token: string, now: number): StoredUser | undefined {
  const row = db
    .query<{ userId: string }, [string, number]>('SELECT user_id AS userId FROM pending_sign_ins WHERE token_hash = ? AND expires_at > ?')
    .get(hashToken(token), now)
  return row === null ? undefined : findUser(db, row.userId)
}

interface PendingRequest {
  token: string | undefined
  otp: string
  place: SessionPlace
  onAccount?(user: StoredUser): void
}

/** Belongs in a transaction. @throws AppError `unauthorized` without such a sign-in or for a wrong code, `rate_limited`, `forbidden`. */
export function finishPendingSignIn(
  deps: SignInDeps,
  { token = '', otp, place, onAccount }: PendingRequest,
): SignIn & { secondFactor: SecondFactorUsed | undefined } {
  const { db, logins, now } = deps
  const user = requirePending(db, token, now())
  onAccount?.(user)
  const counters = proofCountersOf(user.email, place.address)
  logins.begin(counters)
  const secondFactor = requireSecondFactor(deps, user.id, otp)
  db.query('DELETE FROM pending_sign_ins WHERE token_hash = ?').run(hashToken(token))
  const begun = beginSession(db, user, { place, now: now() })
  logins.reset(counters[0])
  logins.takeBack(counters[1])
  return { ...begun, secondFactor }
}

function requirePending(db: Database, token: string, now: number): StoredUser {
  const user = findPendingUser(db, token, now)
  if (user !== undefined) return user
  throw new AppError('unauthorized', 'There is no sign-in that waits for a code, or it took too long. Begin it again.')
}

export const pendingTokenOf = (headers: Headers): string | undefined =>
  new Bun.CookieMap(headers.get('cookie') ?? '').get(pendingCookie) || undefined

export function pendingCookieOf(publicUrl: string, token: string): string {
  const secure = publicUrl.startsWith('https:')
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure, maxAge: PENDING_MS / 1000 } as const
  return new Bun.Cookie(browsersNameOf(pendingCookie, secure), token, attributes).toString()
}
