import type { RegisterBody } from '../../../shared/auth.ts'
import { AppError } from '../../../shared/error.ts'
import type { IdentityContext } from '../context.ts'
import { joinByInvite, requireInvite } from '../invites/join.ts'
import { hashPassword } from '../passwords/password.ts'
import type { SessionPlace } from '../sessions/store.ts'
import { beginSession, type SignIn } from '../sign-in/sign-in.ts'
import { addressCounterOf } from '../throttle/login-counters.ts'
import { openAccount, openOwnWorkspace } from '../users/open-account.ts'
import { type RegistrationSettings, refuseRegistration, registrationPolicy } from '../users/registration-policy.ts'
import { findUserByEmail } from '../users/store.ts'

type RegisterContext = Pick<IdentityContext, 'db' | 'audit' | 'logins' | 'now'> & { config: RegistrationSettings }

export interface Registration extends RegisterBody {
  place: SessionPlace
  change<T>(apply: () => T): T
  onAccount(user: { id: string; email: string }): void
}

/** @throws AppError `forbidden`, `not_found` or `conflict` for the invite, `conflict` for a taken address, `rate_limited`. */
export async function register(context: RegisterContext, wanted: Registration): Promise<SignIn> {
  const { db, logins, now } = context
  const { inviteToken, place } = wanted
  refuseRegistration(context.config, inviteToken !== undefined)
  refuseOwnWorkspace(context.config, wanted)
  const counter = addressCounterOf(place.address)
  logins.begin([counter])
  if (inviteToken !== undefined) requireInvited(context, inviteToken, wanted.email)
  const passwordHash = await hashPassword(wanted.password)
  const signedIn = wanted.change(() => {
    if (findUserByEmail(db, wanted.email) !== undefined)
      throw new AppError('conflict', 'This e-mail address has an account. Log in instead.')
    const createdAt = now()
    const user = openAccount(db, { email: wanted.email, name: wanted.name ?? '', passwordHash, createdAt })
    const invite = inviteToken === undefined ? undefined : joinByInvite(context, inviteToken, user)
    const { workspaceName = '' } = wanted
    if (invite === undefined || workspaceName !== '') openOwnWorkspace(db, user, { workspaceName, createdAt })
    wanted.onAccount(user)
    return beginSession(db, user, { place, now: createdAt, ...(invite && { workspaceId: invite.workspaceId }) })
  })
  logins.takeBack(counter)
  return signedIn
}

/** What an invite gives is a place in its workspace: whoever is to have another needs the permission to make one. */
function refuseOwnWorkspace(settings: RegistrationSettings, { inviteToken, workspaceName = '' }: RegisterBody): void {
  if (inviteToken === undefined || workspaceName === '' || registrationPolicy(settings) === 'open') return
  throw new AppError(
    'forbidden',
    'Who is invited joins that workspace, and registration is by invitation here. Leave workspaceName out; who may make workspaces does so afterwards, with POST /v1/workspaces.',
  )
}

/** Said before any account is looked up: an invite is no way to find out who else has one. */
function requireInvited(context: RegisterContext, inviteToken: string, email: string): void {
  const invite = requireInvite(context, inviteToken)
  if (invite.email.toLowerCase() === email.toLowerCase()) return
  throw new AppError('forbidden', 'The invite is for another e-mail address. Register with the one that it was sent to.')
}
