import type { TwoFactorState } from '../../../shared/account.ts'
import { AppError, invalidValue } from '../../../shared/error.ts'
import type { Operations } from '../../../shared/operations/all.ts'
import { answer, type Handlers } from '../../http/handlers/call.ts'
import type { IdentityContext } from '../context.ts'
import { proofCountersOf } from '../throttle/login-counters.ts'
import { hashOfRecoveryCode, newRecoveryCodes } from '../two-factor/recovery-codes.ts'
import { codeOf } from '../two-factor/second-factor.ts'
import {
  confirmTwoFactor,
  countRecoveryCodes,
  findTwoFactor,
  hasTwoFactor,
  removeTwoFactor,
  replaceRecoveryCodes,
  storePendingSecret,
  totpPurpose,
} from '../two-factor/store.ts'
import { newTotpSecret, otpauthUrl, stepOfCode } from '../two-factor/totp.ts'
import { type ProofCall, proveOwner, requireAccount, type UserCall } from './prove-owner.ts'
import { listRequiring } from './two-factor-rule.ts'

type TwoFactorIds = Extract<
  keyof Operations,
  'getTwoFactor' | 'beginTwoFactor' | 'confirmTwoFactor' | 'renewRecoveryCodes' | 'removeTwoFactor'
>

export const twoFactorRoutes: Handlers<TwoFactorIds, IdentityContext> = {
  getTwoFactor: ({ actor }, { db }) => stateOf(db, actor.id),
  async beginTwoFactor(call, context) {
    const { db, sealer, publicUrl } = context
    const { user, change } = await proveOwner(context, call, { password: call.body.password, passwordPath: '/password' })
    const secret = newTotpSecret()
    change(() => {
      refuseEnabled(db, user.id)
      storePendingSecret(db, user.id, sealer.seal(secret, totpPurpose(user.id)))
    })
    return { secret, otpauthUrl: otpauthUrl(secret, { issuer: `cpd ${new URL(publicUrl).hostname}`, account: user.email }) }
  },
  confirmTwoFactor(call, context) {
    const { db, now } = context
    const user = requireAccount(context, call.actor)
    refuseEnabled(db, user.id)
    const step = requirePendingCode(context, call, { ...user, code: call.body.code })
    confirmTwoFactor(db, { userId: user.id, step, now: now() })
    return renewCodes(db, user.id)
  },
  async renewRecoveryCodes(call, context) {
    const { user, change } = await proveBoth(context, call)
    return change(() => renewCodes(context.db, user.id))
  },
  async removeTwoFactor(call, context) {
    const { user, change } = await proveBoth(context, call)
    change(() => removeTwoFactor(context.db, user.id))
    return answer(204, undefined)
  },
}

function stateOf(db: IdentityContext['db'], userId: string): TwoFactorState {
  const confirmedAt = findTwoFactor(db, userId)?.confirmedAt ?? null
  return {
    enabled: confirmedAt !== null,
    ...(confirmedAt === null ? {} : { enabledAt: new Date(confirmedAt).toISOString() }),
    recoveryCodesLeft: countRecoveryCodes(db, userId),
    requiredBy: listRequiring(db, userId),
  }
}

function refuseEnabled(db: IdentityContext['db'], userId: string): void {
  if (hasTwoFactor(db, userId)) {
    throw new AppError('conflict', 'Two-factor sign-in is on already. To move it to another app, switch it off first.')
  }
}

type CodeCall = ProofCall & { body: { password?: string; otp: string } }

async function proveBoth(context: IdentityContext, call: CodeCall) {
  if (!hasTwoFactor(context.db, call.actor.id)) {
    throw new AppError('conflict', 'Two-factor sign-in is off. POST /v1/auth/two-factor begins to set it up.')
  }
  return proveOwner(context, call, { password: call.body.password, passwordPath: '/password', otp: call.body.otp })
}

function requirePendingCode(
  { db, sealer, logins, now }: IdentityContext,
  { clientAddress }: UserCall,
  { id, email, code }: { id: string; email: string; code: string },
): number {
  const pending = findTwoFactor(db, id)
  if (pending === undefined) throw new AppError('conflict', 'Begin to set up two-factor sign-in first: POST /v1/auth/two-factor.')
  const counters = proofCountersOf(email, clientAddress)
  logins.begin(counters)
  const secret = sealer.open(pending.secretSealed, totpPurpose(id))
  const step = stepOfCode(secret, codeOf(code), { now: now(), lastStep: pending.lastStep })
  if (step === undefined) {
    throw invalidValue(
      '/code',
      'The code is not the one of this moment. Check the clock of the phone, and give the code that the app shows now.',
    )
  }
  for (const counter of counters) logins.takeBack(counter)
  return step
}

function renewCodes(db: IdentityContext['db'], userId: string): { recoveryCodes: string[] } {
  const recoveryCodes = newRecoveryCodes()
  replaceRecoveryCodes(
    db,
    userId,
    recoveryCodes.flatMap((code) => hashOfRecoveryCode(code) ?? []),
  )
  return { recoveryCodes }
}
