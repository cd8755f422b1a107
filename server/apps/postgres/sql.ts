import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'

export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`

export const quoteText = (text: string): string => `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`

const ITERATIONS = 4096
const KEY_BYTES = 32
const SALT_BYTES = 16

/**
 * What PostgreSQL keeps of a password (RFC 5803). Given in place of the password, it leaves that in no log, statistic or file. The
 * same password has the same one, so that files with it need not change.
 */
export function scramVerifier(password: string): string {
  const salt = createHash('sha256').update(`cpd salt ${password}`).digest().subarray(0, SALT_BYTES)
  const salted = pbkdf2Sync(password, salt, ITERATIONS, KEY_BYTES, 'sha256')
  const keyOf = (what: string) => createHmac('sha256', salted).update(what).digest()
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${keyOf('Server Key').toString('base64')}`
}

const PASSWORD_BYTES = 24

/** Letters, digits, - and _: it needs no quotes in a URL, a shell or SQL. */
export const newPassword = (): string => randomBytes(PASSWORD_BYTES).toString('base64url')
