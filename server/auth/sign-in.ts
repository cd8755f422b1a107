import type { Database } from 'bun:sqlite'
import type { SignedIn } from '../../shared/auth.ts'
import { AppError } from '../../shared/error.ts'
import { addressKey } from '../http/client-address.ts'
import { findFirstMembership, findWorkspace } from '../workspaces/store.ts'
import { hashPassword, isStaleHash, verifyPassword } from './password.ts'
import { createSession } from './session-store.ts'
import type { LoginThrottle } from './throttle.ts'
import { findUserByEmail, presentUser, type StoredUser, setPasswordHash } from './user-store.ts'

export interface SignInDeps {
  db: Database
  throttle: LoginThrottle
  now(): number
}

export interface SignIn {
  signedIn: SignedIn
  sessionToken: string
}

export interface Attempt {
  email: string
  password: string
  address: string
}

/**
 * Begins a session for the owner of the password.
 *
 * @throws AppError `unauthorized` for a wrong password and for an unknown account alike, `rate_limited` after too many of them,
 * `forbidden` for an account that is in no workspace.
 */
export async function signIn({ db, throttle, now }: SignInDeps, { email, password, address }: Attempt): Promise<SignIn> {
  const accountCounter = `account:${email.toLowerCase()}`
  const addressCounter = addressCounterOf(address)
  throttle.begin([accountCounter, addressCounter])
  const user = findUserByEmail(db, email)
  const isRight = await verifyPassword(password, user?.passwordHash)
  if (user === undefined || !isRight) throw new AppError('unauthorized', 'The e-mail or the password is wrong.')
  throttle.reset(accountCounter)
  throttle.takeBack(addressCounter)
  if (isStaleHash(user.passwordHash)) setPasswordHash(db, user.id, await hashPassword(password))
  return beginSession(db, user, now())
}

/** @throws AppError `forbidden` for an account that is in no workspace. */
export function beginSession(db: Database, user: StoredUser, now: number): SignIn {
  const place = findFirstMembership(db, user.id)
  const workspace = place === undefined ? undefined : findWorkspace(db, place.workspaceId)
  if (workspace === undefined) throw new AppError('forbidden', 'You are not a member of any workspace. Ask for an invitation.')
  const sessionToken = createSession(db, user.id, now)
  return { signedIn: { user: presentUser(user), workspace: { id: workspace.id, name: workspace.name } }, sessionToken }
}

export const addressCounterOf = (address: string): string => `address:${addressKey(address)}`
