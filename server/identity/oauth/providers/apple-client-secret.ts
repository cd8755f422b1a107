import { sign } from 'node:crypto'
import type { AppleSettings } from './settings.ts'

/** Apple takes up to six months; a secret that is made for each exchange needs no more than to arrive. */
export const APPLE_SECRET_SECONDS = 300

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

/** @see https://developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret */
export function appleClientSecret({ clientId, teamId, keyId, privateKey, issuer }: AppleSettings, nowMs: number): string {
  const issuedAt = Math.floor(nowMs / 1000)
  const claims = { iss: teamId, iat: issuedAt, exp: issuedAt + APPLE_SECRET_SECONDS, aud: issuer, sub: clientId }
  const signed = `${encoded({ alg: 'ES256', kid: keyId })}.${encoded(claims)}`
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${signed}.${signature.toString('base64url')}`
}
