import { randomLetters } from '../tokens/random-letters.ts'
import { hashToken } from '../tokens/token.ts'

export const RECOVERY_CODES = 10
/** Crockford's base32: no letter that could be taken for another. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const LETTERS = 16
const GROUP = /.{4}(?=.)/g
const pattern = /^[0-9a-hjkmnp-tv-z]{16}$/

/** New codes of 80 random bits, as they are shown once: `abcd-efgh-jkmn-pqrs`. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: RECOVERY_CODES }, () => randomLetters(alphabet, LETTERS).replace(GROUP, '$&-'))

export function hashOfRecoveryCode(typed: string): string | undefined {
  const code = typed.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0').replace(/[il]/g, '1')
  return pattern.test(code) ? hashToken(code) : undefined
}
