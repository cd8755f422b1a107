import type { Database } from 'bun:sqlite'
import { AppError } from '../../../shared/error.ts'
import type { Sealer } from '../../platform/secrets/seal.ts'
import { hashOfRecoveryCode } from './recovery-codes.ts'
import { findTwoFactor, takeRecoveryCode, takeStep, totpPurpose } from './store.ts'
import { stepOfCode } from './totp.ts'

export interface SecondFactorDeps {
  db: Database
  sealer: Sealer
  now(): number
}

export type SecondFactorUsed = 'totp' | 'recovery_code'

/** Takes a code, which is good once; undefined for a wrong one. Belongs in the transaction of what it is shown for. */
export function takeSecondFactor({ db, sealer, now }: SecondFactorDeps, userId: string, typed: string): SecondFactorUsed | undefined {
  const factor = findTwoFactor(db, userId)
  if (factor === undefined || factor.confirmedAt === null) return undefined
  const recovery = hashOfRecoveryCode(typed)
  if (recovery !== undefined) return takeRecoveryCode(db, userId, recovery) ? 'recovery_code' : undefined
  const secret = sealer.open(factor.secretSealed, totpPurpose(userId))
  const step = stepOfCode(secret, codeOf(typed), { now: now(), lastStep: factor.lastStep })
  return step !== undefined && takeStep(db, userId, step) ? 'totp' : undefined
}

export const codeOf = (typed: string): string => typed.replace(/[\s-]/g, '')

const askedFor = 'This account has two-factor sign-in. Send the six digits of the authenticator app, or a recovery code, as otp.'
const refused = 'The code is wrong, expired or was used before. Wait for the next one, or use a recovery code.'

/** Clients know by the path of the detail that the first factor was right and the second is wanted. */
export const secondFactorWanted = (): AppError =>
  new AppError('unauthorized', askedFor, { details: [{ path: '/otp', message: 'is wanted' }] })

export const secondFactorWrong = (): AppError => new AppError('unauthorized', refused, { details: [{ path: '/otp', message: refused }] })
