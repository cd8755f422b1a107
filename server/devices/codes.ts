import { accessTokenPrefix, refreshTokenPrefix, userCodeAlphabet, userCodeLetters } from '../../shared/device.ts'
import { hashToken } from '../auth/token.ts'

const SECRET_BYTES = 32
const FAMILY_BYTES = 16
/** Letters of base64url that hold as many bytes. */
const FAMILY_LETTERS = Math.ceil((FAMILY_BYTES * 8) / 6)

const randomText = (bytes: number): string => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('base64url')

/** What a device asks with: 256 random bits. */
export const newDeviceCode = (): string => randomText(SECRET_BYTES)

export const newAccessToken = (): string => accessTokenPrefix + randomText(SECRET_BYTES)

/** What all refresh tokens of one session begin with, so that each of them is known again. */
export const newRefreshFamily = (): string => randomText(FAMILY_BYTES)

export const newRefreshToken = (family: string): string => refreshTokenPrefix + family + randomText(SECRET_BYTES)

/** The family that a refresh token says to be of; undefined for text that is none. */
export function refreshFamilyOf(token: string): string | undefined {
  const family = token.slice(refreshTokenPrefix.length, refreshTokenPrefix.length + FAMILY_LETTERS)
  return token.startsWith(refreshTokenPrefix) && family.length === FAMILY_LETTERS ? family : undefined
}

export const hashFamily = (family: string): string => hashToken(`family ${family}`)

/** The largest multiple of the alphabet in a byte: bytes from here on would favour the first letters. */
const FAIR_BYTES = 256 - (256 % userCodeAlphabet.length)

/** What a user compares or types: 34 random bits, which last ten minutes behind a throttle. */
export function newUserCode(): string {
  let code = ''
  while (code.length < userCodeLetters) {
    for (const byte of crypto.getRandomValues(new Uint8Array(userCodeLetters))) {
      if (byte < FAIR_BYTES && code.length < userCodeLetters) code += userCodeAlphabet.charAt(byte % userCodeAlphabet.length)
    }
  }
  return code
}
