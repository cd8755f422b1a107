import type { RegisterBody } from '../../shared/auth.ts'
import { AppError } from '../../shared/error.ts'
import { isLoopback } from '../address.ts'
import type { Config } from '../config.ts'
import { newId } from '../id.ts'
import { insertMember, insertWorkspace } from '../workspaces/store.ts'
import { hashPassword } from './password.ts'
import type { SessionPlace } from './session-store.ts'
import { addressCounterOf, beginSession, type SignIn, type SignInDeps } from './sign-in.ts'
import { findUserByEmail, insertUser } from './user-store.ts'

type RegistrationSettings = Pick<Config, 'CP_REGISTRATION' | 'CP_LISTEN' | 'CP_PUBLIC_URL' | 'CP_TRUSTED_PROXIES'>

/** Whether strangers may register: as configured, else while only this machine can reach the API. */
export function isRegistrationOpen(settings: RegistrationSettings): boolean {
  return settings.CP_REGISTRATION === '' ? isThisMachineAlone(settings) : settings.CP_REGISTRATION === 'open'
}

/** A public URL or a proxy in front says that others reach us, though we listen on loopback. */
function isThisMachineAlone({ CP_LISTEN, CP_PUBLIC_URL, CP_TRUSTED_PROXIES }: RegistrationSettings): boolean {
  const isLocalUrl = CP_PUBLIC_URL === undefined || isLoopback({ host: new URL(CP_PUBLIC_URL).hostname, port: 0 })
  return isLoopback(CP_LISTEN) && isLocalUrl && CP_TRUSTED_PROXIES.length === 0
}

/**
 * Makes an account with a workspace of its own and begins a session.
 *
 * @throws AppError `forbidden` while registration is not open, `conflict` for an address that has an account,
 * `rate_limited` after too many of those from one network address.
 */
export async function register(
  deps: SignInDeps,
  settings: RegistrationSettings,
  wanted: RegisterBody & { place: SessionPlace; change<T>(apply: () => T): T; onAccount?(user: { id: string; email: string }): void },
): Promise<SignIn> {
  if (!isRegistrationOpen(settings)) {
    throw new AppError('forbidden', 'Registration is closed here. Ask an administrator for an invitation.')
  }
  const { db, logins, now } = deps
  const counter = addressCounterOf(wanted.place.address)
  logins.begin([counter])
  const passwordHash = await hashPassword(wanted.password)
  const createdAt = now()
  const name = wanted.name || (wanted.email.split('@')[0] ?? wanted.email)
  const user = { id: newId('user', createdAt), email: wanted.email, name, passwordHash }
  const signedIn = wanted.change(() => {
    if (findUserByEmail(db, wanted.email) !== undefined)
      throw new AppError('conflict', 'This e-mail address has an account. Log in instead.')
    const workspaceId = newId('workspace', createdAt)
    insertUser(db, { ...user, createdAt })
    insertWorkspace(db, { id: workspaceId, name: wanted.workspaceName || `${name}'s workspace`, email: wanted.email, createdAt })
    insertMember(db, { workspaceId, userId: user.id, role: 'admin', createdAt })
    wanted.onAccount?.(user)
    return beginSession(db, user, { place: wanted.place, now: createdAt })
  })
  logins.takeBack(counter)
  return signedIn
}
