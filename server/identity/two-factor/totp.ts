/** Time-based one-time codes (RFC 6238) as every authenticator app takes them: SHA-1, six digits, thirty seconds. */
import { timingSafeEqual } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'

const form = { algorithm: 'SHA1', digits: 6, period: 30 } as const
/** RFC 4226 wants 128 bits at least and recommends 160. */
const SECRET_BYTES = 20
const SKEW_STEPS = 1

export const newTotpSecret = (): string => new Secret({ size: SECRET_BYTES }).base32

export const otpauthUrl = (secret: string, { issuer, account }: { issuer: string; account: string }): string =>
  new TOTP({ ...form, issuer, label: account, secret: Secret.fromBase32(secret) }).toString()

/** The time step that `code` is right for, of those newer than `lastStep`. All are compared in full, whatever the code is. */
export function stepOfCode(secret: string, code: string, { now, lastStep }: { now: number; lastStep: number }): number | undefined {
  const key = Secret.fromBase32(secret)
  const present = TOTP.counter({ period: form.period, timestamp: now })
  const given = Buffer.from(code)
  let found: number | undefined
  for (let step = present - SKEW_STEPS; step <= present + SKEW_STEPS; step++) {
    const wanted = Buffer.from(TOTP.generate({ ...form, secret: key, timestamp: step * form.period * 1000 }))
    const isRight = given.length === wanted.length && timingSafeEqual(given, wanted)
    if (isRight && step > lastStep) found ??= step
  }
  return found
}
