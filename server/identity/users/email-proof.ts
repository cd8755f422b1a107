import type { Database } from 'bun:sqlite'

/** Notes that mail to the account's address reaches its owner. */
export function proveEmail(db: Database, userId: string, now: number): void {
  db.query('UPDATE users SET email_proven_at = coalesce(email_proven_at, $now) WHERE id = $userId').run({ userId, now })
}

/** Whether that was ever shown. */
export const isEmailProven = (db: Database, userId: string): boolean =>
  db.query<{ found: 1 }, [string]>('SELECT 1 AS found FROM users WHERE id = ? AND email_proven_at IS NOT NULL').get(userId) !== null

/**
 * Notes that whoever sets the password need not be the owner of the address: an administrator was shown the link. Until mail shows who it
 * is, no provider lets anybody in, who would not notice that somebody else knows the password.
 */
export function doubtEmail(db: Database, userId: string): void {
  db.query('UPDATE users SET email_proven_at = NULL WHERE id = ?').run(userId)
  db.query('DELETE FROM identities WHERE user_id = ?').run(userId)
}

/**
 * Notes it of somebody who came with a link out of that mail. Whoever held the account before, without ever showing it, may be somebody
 * else: the accounts of providers that they linked go.
 */
export function proveEmailByLink(db: Database, userId: string, now: number): void {
  if (!isEmailProven(db, userId)) db.query('DELETE FROM identities WHERE user_id = ?').run(userId)
  proveEmail(db, userId, now)
}
