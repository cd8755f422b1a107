import type { Database } from 'bun:sqlite'

export function proveEmail(db: Database, userId: string, now: number): void {
  db.query('UPDATE users SET email_proven_at = coalesce(email_proven_at, $now) WHERE id = $userId').run({ userId, now })
}

export const isEmailProven = (db: Database, userId: string): boolean =>
  db.query<{ found: 1 }, [string]>('SELECT 1 AS found FROM users WHERE id = ? AND email_proven_at IS NOT NULL').get(userId) !== null

/** An administrator was shown the link: until mail shows who sets the password, no provider lets anybody in. */
export function doubtEmail(db: Database, userId: string): void {
  db.query('UPDATE users SET email_proven_at = NULL WHERE id = ?').run(userId)
  db.query('DELETE FROM identities WHERE user_id = ?').run(userId)
}

/** Whoever held the account before the address was proven may be somebody else: the accounts of providers that they linked go. */
export function proveEmailByLink(db: Database, userId: string, now: number): void {
  if (!isEmailProven(db, userId)) db.query('DELETE FROM identities WHERE user_id = ?').run(userId)
  proveEmail(db, userId, now)
}
