import { apiKeyPrefix } from '../../../shared/api-key.ts'
import { randomLetters } from '../tokens/random-letters.ts'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 62^30 is 178 bits. */
const RANDOM_LETTERS = 30
const CHECKSUM_LETTERS = 6

/** A new secret: prefix, 30 random letters, and a checksum by which a scanner knows a real key from a look-alike. */
export function newKeySecret(): string {
  const random = randomLetters(base62, RANDOM_LETTERS)
  return `${apiKeyPrefix}${random}${checksumOf(random)}`
}

export function isKeySecret(text: string): boolean {
  if (!text.startsWith(apiKeyPrefix) || text.length !== apiKeyPrefix.length + RANDOM_LETTERS + CHECKSUM_LETTERS) return false
  const random = text.slice(apiKeyPrefix.length, -CHECKSUM_LETTERS)
  return text.endsWith(checksumOf(random))
}

function checksumOf(random: string): string {
  let rest = Bun.hash.crc32(random)
  let letters = ''
  for (let index = 0; index < CHECKSUM_LETTERS; index++) {
    letters = base62.charAt(rest % base62.length) + letters
    rest = Math.floor(rest / base62.length)
  }
  return letters
}
