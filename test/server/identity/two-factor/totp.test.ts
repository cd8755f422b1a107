import { describe, expect, test } from 'vitest'
import { hashOfRecoveryCode, newRecoveryCodes, RECOVERY_CODES } from '../../../../server/identity/two-factor/recovery-codes.ts'
import { newTotpSecret, otpauthUrl, stepOfCode } from '../../../../server/identity/two-factor/totp.ts'
import { totpAt } from '../../../support/two-factor.ts'

/** The shared secret of RFC 6238's test vectors, "12345678901234567890". */
const rfcSecret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const STEP_MS = 30_000

describe('a code of the authenticator app', () => {
  test('is that of RFC 6238', () => {
    // The last six digits of the vectors of appendix B.
    for (const [seconds, code] of [
      [59, '287082'],
      [1_111_111_109, '081804'],
      [1_234_567_890, '005924'],
      [2_000_000_000, '279037'],
    ] as const) {
      expect(stepOfCode(rfcSecret, code, { now: seconds * 1000, lastStep: 0 })).toBe(Math.floor(seconds / 30))
    }
  })

  test('is good one step early or late, and no more', () => {
    const now = 1_000_000 * STEP_MS
    const stepFor = (offset: number) => stepOfCode(rfcSecret, totpAt(rfcSecret, now + offset * STEP_MS), { now, lastStep: 0 })
    expect([-2, -1, 0, 1, 2].map(stepFor)).toEqual([undefined, 999_999, 1_000_000, 1_000_001, undefined])
  })

  test('is not good for a step that was taken, nor for one before it', () => {
    const now = 1_000_000 * STEP_MS
    const code = totpAt(rfcSecret, now)
    expect(stepOfCode(rfcSecret, code, { now, lastStep: 999_999 })).toBe(1_000_000)
    expect(stepOfCode(rfcSecret, code, { now, lastStep: 1_000_000 })).toBeUndefined()
    expect(stepOfCode(rfcSecret, code, { now, lastStep: 1_000_001 })).toBeUndefined()
  })

  test('has six digits and nothing else', () => {
    const now = 59_000
    for (const code of ['', '28708', '2870820', '287082 ', '٢٨٧٠٨٢', '0x4616a', 'NaN', '287082\n']) {
      expect(stepOfCode(rfcSecret, code, { now, lastStep: 0 })).toBeUndefined()
    }
  })

  test('comes of a secret of 160 bits that is unlike every other', () => {
    const secrets = new Set(Array.from({ length: 100 }, newTotpSecret))
    expect(secrets.size).toBe(100)
    for (const secret of secrets) expect(secret).toMatch(/^[A-Z2-7]{32}$/)
  })

  test('is set up by a URL that names server and account', () => {
    const url = new URL(otpauthUrl(rfcSecret, { issuer: 'cpd cp.example.com', account: 'ada+x@example.com' }))
    expect(url.protocol).toBe('otpauth:')
    expect(url.host).toBe('totp')
    expect(decodeURIComponent(url.pathname)).toBe('/cpd cp.example.com:ada+x@example.com')
    expect(Object.fromEntries(url.searchParams)).toEqual({
      issuer: 'cpd cp.example.com',
      secret: rfcSecret,
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    })
  })
})

describe('recovery codes', () => {
  test('are ten, of 80 bits each, and none twice', () => {
    const codes = newRecoveryCodes()
    expect(codes).toHaveLength(RECOVERY_CODES)
    expect(new Set(codes).size).toBe(RECOVERY_CODES)
    for (const code of codes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){3}$/)
  })

  test('are taken as people type them', () => {
    const hash = hashOfRecoveryCode('0123-4567-89ab-1cde')
    expect(hash).toMatch(/^[0-9a-f]{64}$/)
    for (const typed of ['0123456789ab1cde', ' O123 4567 89AB ICDE ', 'o123-4567-89aB-lcde']) expect(hashOfRecoveryCode(typed)).toBe(hash)
    for (const typed of ['', '123456', '0123-4567-89ab-1cd', '0123-4567-89ab-1cdef', '0123-4567-89ab-ucde', 'x'.repeat(40)]) {
      expect(hashOfRecoveryCode(typed)).toBeUndefined()
    }
  })
})
