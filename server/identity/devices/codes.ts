import { accessTokenPrefix, refreshTokenPrefix, userCodeAlphabet, userCodeLetters } from '../../../shared/device.ts'
import { randomLetters } from '../tokens/random-letters.ts'
import { hashToken, newToken } from '../tokens/token.ts'

const FAMILY_BYTES = 16
const FAMILY_LETTERS = Math.ceil((FAMILY_BYTES * 8) / 6)

export const newDeviceCode = (): string => newToken()

export const newAccessToken = (): string => accessTokenPrefix + newToken()

/** All refresh tokens of one session begin with this, so that each of them is known again. */
export const newRefreshFamily = (): string => newToken(FAMILY_BYTES)

export const newRefreshToken = (family: string): string => refreshTokenPrefix + family + newToken()

export function refreshFamilyOf(token: string): string | undefined {
  const family = token.slice(refreshTokenPrefix.length, refreshTokenPrefix.length + FAMILY_LETTERS)
  return token.startsWith(refreshTokenPrefix) && family.length === FAMILY_LETTERS ? family : undefined
}

/** The prefix keeps it from being the hash of a token. */
export const hashFamily = (family: string): string => hashToken(`family ${family}`)

/** What a user compares or types: 34 random bits, which last ten minutes behind a throttle. */
export const newUserCode = (): string => randomLetters(userCodeAlphabet, userCodeLetters)
