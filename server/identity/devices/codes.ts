import { accessTokenPrefix, refreshTokenPrefix, userCodeAlphabet, userCodeLetters } from '../../../shared/device.ts'
import { randomLetters } from '../tokens/random-letters.ts'
import { hashToken, newToken } from '../tokens/token.ts'

const FAMILY_BYTES = 16
/** Letters of base64url that hold as many bytes. */
const FAMILY_LETTERS = Math.ceil((FAMILY_BYTES * 8) / 6)

/** What a device asks with: 256 random bits. */
export const newDeviceCode = (): string => newToken()

/** What a device shows with its requests, by a prefix that tells it from an API key. */
export const newAccessToken = (): string => accessTokenPrefix + newToken()

/** What all refresh tokens of one session begin with, so that each of them is known again. */
export const newRefreshFamily = (): string => newToken(FAMILY_BYTES)

/** What a device gets its next tokens with, once. */
export const newRefreshToken = (family: string): string => refreshTokenPrefix + family + newToken()

/** The family that a refresh token says to be of; undefined for text that is none. */
export function refreshFamilyOf(token: string): string | undefined {
  const family = token.slice(refreshTokenPrefix.length, refreshTokenPrefix.length + FAMILY_LETTERS)
  return token.startsWith(refreshTokenPrefix) && family.length === FAMILY_LETTERS ? family : undefined
}

/** The form in which a family is stored: with a prefix, so that it is no hash of a token. */
export const hashFamily = (family: string): string => hashToken(`family ${family}`)

/** What a user compares or types: 34 random bits, which last ten minutes behind a throttle. */
export const newUserCode = (): string => randomLetters(userCodeAlphabet, userCodeLetters)
