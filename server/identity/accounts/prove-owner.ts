import { AppError, invalidValue } from '../../../shared/error.ts'
import { credentialOf } from '../../http/access/credential.ts'
import type { Actor } from '../../http/handlers/call.ts'
import type { IdentityContext } from '../context.ts'
import { verifyPassword } from '../passwords/password.ts'
import { proofCountersOf } from '../throttle/login-counters.ts'
import { takeSecondFactor } from '../two-factor/second-factor.ts'
import { findUser, type StoredUser } from '../users/store.ts'
import { sessionOf } from './session-list.ts'

export interface UserCall {
  actor: Actor
  request: Request
  clientAddress: string
}

export interface ProofCall extends UserCall {
  change<T>(apply: () => T): T
}

export interface Proof {
  password: string | undefined
  passwordPath: string
  otp?: string
}

export interface Proven {
  user: StoredUser
  change<T>(apply: () => T): T
}

type ProofContext = Pick<IdentityContext, 'db' | 'sealer' | 'logins' | 'now'>

const FRESH_MS = 10 * 60_000

/** A stolen session is not enough. @throws AppError `validation_failed`, `rate_limited`, `forbidden` for an old one without password. */
export async function proveOwner(context: ProofContext, call: ProofCall, proof: Proof): Promise<Proven> {
  const { db, logins } = context
  const user = requireAccount(context, call.actor)
  const counters = proofCountersOf(user.email, call.clientAddress)
  const takeBack = () => {
    for (const counter of counters) logins.takeBack(counter)
  }
  logins.begin(counters)
  if (user.passwordHash === '') requireFreshSession(context, call, takeBack)
  else await requirePassword(user, proof, takeBack)
  return {
    user,
    change(apply) {
      const result = call.change(() => {
        if (findUser(db, user.id)?.passwordHash !== user.passwordHash) throw wrongPassword(proof)
        if (proof.otp !== undefined && takeSecondFactor(context, user.id, proof.otp) === undefined) throw wrongCode()
        return apply()
      })
      takeBack()
      return result
    },
  }
}

export function requireAccount({ db }: Pick<IdentityContext, 'db'>, actor: Actor): StoredUser {
  const user = findUser(db, actor.id)
  if (user === undefined) throw new AppError('not_found', 'This account has just been removed.')
  return user
}

async function requirePassword(user: StoredUser, proof: Proof, takeBack: () => void): Promise<void> {
  const isRight = await verifyPassword(proof.password ?? '', user.passwordHash).catch((error: unknown) => {
    // The server was in a rush: nothing was guessed.
    takeBack()
    throw error
  })
  if (!isRight) throw wrongPassword(proof)
}

/** Only a browser's session counts: a device's is as young as the click that let it in, which any old session is enough for. */
function requireFreshSession({ db, now }: ProofContext, { request }: UserCall, takeBack: () => void): void {
  const session = credentialOf(request.headers).kind === 'session' ? sessionOf(db, request) : undefined
  if (session !== undefined && now() - session.createdAt <= FRESH_MS) return
  takeBack()
  throw new AppError('forbidden', 'This account has no password, so sign in anew in a browser first, and do this there within 10 minutes.')
}

const wrongPassword = ({ passwordPath }: Proof): AppError => invalidValue(passwordPath, 'This is not the present password of the account.')

const wrongCode = (): AppError =>
  invalidValue('/otp', 'The code is wrong, expired or was used before. Wait for the next one, or use a recovery code.')
