import type { Database } from 'bun:sqlite'
import { browsersNameOf } from '../../http/access/own-cookies.ts'
import { hashToken, newToken } from '../tokens/token.ts'

/** Name of the cookie by which a browser is known that has logged in before. It lets nobody in. */
const deviceCookie = 'cpd_device'
const KEPT_SECONDS = 365 * 24 * 3600
const MAX_DEVICES_OF_USER = 20

export const deviceTokenOf = (headers: Headers): string | undefined => {
  const cookies = headers.get('cookie')
  return cookies === null ? undefined : new Bun.CookieMap(cookies).get(deviceCookie) || undefined
}

export function knownDeviceOf(db: Database, token: string | undefined, email: string): string | undefined {
  if (token === undefined) return undefined
  const hash = hashToken(token)
  const row = db
    .query('SELECT 1 FROM known_devices d JOIN users u ON u.id = d.user_id WHERE d.token_hash = ? AND u.email = ?')
    .get(hash, email)
  return row === null ? undefined : hash
}

/** Belongs in a transaction. */
export function noteDevice(db: Database, { userId, token, now }: { userId: string; token: string | undefined; now: number }): string {
  const seen = token === undefined ? 0 : touch(db, { hash: hashToken(token), userId, now })
  if (token !== undefined && seen > 0) return token
  const made = newToken()
  db.query('INSERT INTO known_devices (token_hash, user_id, last_seen_at) VALUES (?, ?, ?)').run(hashToken(made), userId, now)
  db.query(
    `DELETE FROM known_devices WHERE user_id = $userId AND token_hash NOT IN
       (SELECT token_hash FROM known_devices WHERE user_id = $userId ORDER BY last_seen_at DESC LIMIT ${MAX_DEVICES_OF_USER})`,
  ).run({ userId })
  return made
}

const touch = (db: Database, { hash, userId, now }: { hash: string; userId: string; now: number }): number =>
  db.query('UPDATE known_devices SET last_seen_at = ? WHERE token_hash = ? AND user_id = ?').run(now, hash, userId).changes

export function deviceCookieOf(publicUrl: string, token: string): string {
  const secure = publicUrl.startsWith('https:')
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure, maxAge: KEPT_SECONDS } as const
  return new Bun.Cookie(browsersNameOf(deviceCookie, secure), token, attributes).toString()
}
