import type { Database } from 'bun:sqlite'

export interface TwoFactor {
  secretSealed: string
  /** Null while the secret waits for its first right code. */
  confirmedAt: number | null
  lastStep: number
}

/** What the secret of an account is sealed for. */
export const totpPurpose = (userId: string): string => `totp of ${userId}`

/** The second factor that an account has or is about to have. */
export const findTwoFactor = (db: Database, userId: string): TwoFactor | undefined =>
  db
    .query<TwoFactor, [string]>(
      `SELECT totp_secret_sealed AS secretSealed, totp_confirmed_at AS confirmedAt, totp_last_step AS lastStep
       FROM users WHERE id = ? AND totp_secret_sealed IS NOT NULL`,
    )
    .get(userId) ?? undefined

/** Whether a sign-in to the account needs a second factor. */
export const hasTwoFactor = (db: Database, userId: string): boolean =>
  db.query<{ found: 1 }, [string]>('SELECT 1 AS found FROM users WHERE id = ? AND totp_confirmed_at IS NOT NULL').get(userId) !== null

/** Keeps a secret that counts only when a code of it has confirmed it. */
export function storePendingSecret(db: Database, userId: string, secretSealed: string): void {
  db.query('UPDATE users SET totp_secret_sealed = $secretSealed, totp_confirmed_at = NULL, totp_last_step = 0 WHERE id = $userId').run({
    userId,
    secretSealed,
  })
}

/** Switches the second factor on. Codes of this time step and of those before it are spent. */
export function confirmTwoFactor(db: Database, { userId, step, now }: { userId: string; step: number; now: number }): void {
  db.query('UPDATE users SET totp_confirmed_at = $now, totp_last_step = $step WHERE id = $userId').run({ userId, step, now })
}

/** Switches the second factor off, with its recovery codes. */
export function removeTwoFactor(db: Database, userId: string): void {
  db.query('UPDATE users SET totp_secret_sealed = NULL, totp_confirmed_at = NULL, totp_last_step = 0 WHERE id = ?').run(userId)
  db.query('DELETE FROM recovery_codes WHERE user_id = ?').run(userId)
}

/** Takes a time step, once. False when it, or a newer one, was taken before. */
export const takeStep = (db: Database, userId: string, step: number): boolean =>
  db.query('UPDATE users SET totp_last_step = $step WHERE id = $userId AND totp_last_step < $step').run({ userId, step }).changes === 1

/** Keeps these recovery codes, by their hashes, in place of all former ones. */
export function replaceRecoveryCodes(db: Database, userId: string, hashes: readonly string[]): void {
  db.query('DELETE FROM recovery_codes WHERE user_id = ?').run(userId)
  const insert = db.query('INSERT INTO recovery_codes (user_id, code_hash) VALUES ($userId, $hash)')
  for (const hash of hashes) insert.run({ userId, hash })
}

/** Takes a recovery code, once. False when the account has no such code, or no more. */
export const takeRecoveryCode = (db: Database, userId: string, hash: string): boolean =>
  db.query('DELETE FROM recovery_codes WHERE user_id = $userId AND code_hash = $hash').run({ userId, hash }).changes === 1

/** How many recovery codes an account has left. */
export const countRecoveryCodes = (db: Database, userId: string): number =>
  db.query<{ count: number }, [string]>('SELECT count(*) AS count FROM recovery_codes WHERE user_id = ?').get(userId)?.count ?? 0
