import type { Database } from 'bun:sqlite'
import type { SignedIn } from '../../../shared/auth.ts'
import { AppError } from '../../../shared/error.ts'
import { findFirstMembership, findMembership, findWorkspace } from '../memberships/store.ts'
import { hashPassword, isStaleHash, verifyPassword } from '../passwords/password.ts'
import { createSession, noteUserSeen, type SessionPlace } from '../sessions/store.ts'
import { loginCountersOf, proofCountersOf } from '../throttle/login-counters.ts'
import type { Throttle } from '../throttle/throttle.ts'
import {
  type SecondFactorDeps,
  type SecondFactorUsed,
  secondFactorWanted,
  secondFactorWrong,
  takeSecondFactor,
} from '../two-factor/second-factor.ts'
import { hasTwoFactor } from '../two-factor/store.ts'
import { findUser, findUserByEmail, presentUser, type StoredUser, setPasswordHash } from '../users/store.ts'
import { knownDeviceOf, noteDevice } from './known-devices.ts'

export interface SignInDeps extends SecondFactorDeps {
  logins: Throttle
}

export interface SignIn {
  signedIn: SignedIn
  sessionToken: string
  deviceToken?: string
}

export interface SignInRequest {
  email: string
  password: string
  otp: string | undefined
  place: SessionPlace
  deviceToken?: string | undefined
  change<T>(apply: () => T): T
  /** Called as soon as the account is known; nothing is proven by then. */
  onAccount?(user: StoredUser): void
}

/**
 * @throws AppError `unauthorized` for a wrong password or an unknown account alike, or at /otp; `rate_limited`, `forbidden` for an account
 * in no workspace, `unavailable` in a rush.
 */
export async function signIn(deps: SignInDeps, request: SignInRequest): Promise<SignIn & { secondFactor: SecondFactorUsed | undefined }> {
  const { db, logins, now } = deps
  const device = knownDeviceOf(db, request.deviceToken, request.email)
  const counters = loginCountersOf({ email: request.email, address: request.place.address, device })
  const takeBack = () => {
    for (const counter of counters.all) logins.takeBack(counter)
  }
  logins.begin(counters.all)
  const { user, newHash } = await ownerOf(deps, request, device !== undefined).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'unavailable') takeBack()
    throw error
  })
  // The hashes took their time: the password may have been changed, the second factor switched on.
  if (findUser(db, user.id)?.passwordHash !== user.passwordHash) throw wrongPassword()
  if (request.otp === undefined && hasTwoFactor(db, user.id)) {
    takeBack()
    throw secondFactorWanted()
  }
  const [codes] = proofCountersOf(request.email, request.place.address)
  if (request.otp !== undefined) logins.begin([codes])
  const result = request.change(() => {
    const secondFactor = requireSecondFactor(deps, user.id, request.otp)
    if (newHash !== undefined) setPasswordHash(db, user.id, newHash)
    const deviceToken = noteDevice(db, { userId: user.id, token: request.deviceToken, now: now() })
    return { ...beginSession(db, user, { place: request.place, now: now() }), secondFactor, deviceToken }
  })
  takeBack()
  for (const counter of [...counters.forgiven, codes]) logins.reset(counter)
  return result
}

const wrongPassword = (): AppError => new AppError('unauthorized', 'The e-mail or the password is wrong.')

async function ownerOf(
  { db }: SignInDeps,
  { email, password, onAccount }: SignInRequest,
  isKnown: boolean,
): Promise<{ user: StoredUser; newHash?: string }> {
  const user = findUserByEmail(db, email)
  if (user !== undefined) onAccount?.(user)
  const isRight = await verifyPassword(password, user?.passwordHash, isKnown ? 'known' : 'stranger')
  if (user === undefined || !isRight) throw wrongPassword()
  return isStaleHash(user.passwordHash) ? { user, newHash: await hashPassword(password) } : { user }
}

export function requireSecondFactor(deps: SecondFactorDeps, userId: string, otp: string | undefined): SecondFactorUsed | undefined {
  if (!hasTwoFactor(deps.db, userId)) return undefined
  if (otp === undefined) throw secondFactorWanted()
  const used = takeSecondFactor(deps, userId, otp)
  if (used === undefined) throw secondFactorWrong()
  return used
}

interface Beginning {
  place: SessionPlace
  now: number
  workspaceId?: string
}

export function beginSession(db: Database, user: StoredUser, { place, now, workspaceId }: Beginning): SignIn {
  const member = workspaceId === undefined ? findFirstMembership(db, user.id) : findMembership(db, user.id, workspaceId)
  const workspace = member === undefined ? undefined : findWorkspace(db, member.workspaceId)
  if (workspace === undefined)
    throw new AppError('forbidden', 'You are in no workspace. Ask for an invite: its link lets you in with your password.')
  const sessionToken = createSession(db, { userId: user.id, place, now })
  noteUserSeen(db, user.id, now)
  return { signedIn: { user: presentUser(user), workspace: { id: workspace.id, name: workspace.name } }, sessionToken }
}
