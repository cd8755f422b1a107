import { AppError, invalidValue } from '../../../shared/error.ts'
import type { Operations } from '../../../shared/operations/all.ts'
import { credentialOf } from '../../http/access/credential.ts'
import type { Call } from '../../http/handlers/call.ts'
import { networkOf } from '../../platform/network/network-of.ts'
import type { IdentityContext } from '../context.ts'
import { findFirstMembership, findWorkspace } from '../memberships/store.ts'
import { hashPassword } from '../passwords/password.ts'
import { placeOf } from '../sessions/place.ts'
import { findDeviceUser, findSessionUser, type SessionUser } from '../sessions/store.ts'
import { beginSession, type SignIn, signIn } from '../sign-in/sign-in.ts'
import type { Throttle } from '../throttle/throttle.ts'
import { openAccount } from '../users/open-account.ts'
import { refuseRegistration } from '../users/registration-policy.ts'
import { findUserByEmail, type StoredUser } from '../users/store.ts'
import { joinByInvite, requireInvite } from './join.ts'
import type { StoredInvite } from './store.ts'

export type AcceptCall = Pick<Call<Operations['acceptTeamInvite']>, 'request' | 'clientAddress' | 'change' | 'note' | 'body'>

type SessionCall = Pick<Call<Operations['acceptTeamInvite']>, 'request' | 'actor'>

export interface SessionShown {
  user: SessionUser
  cookieToken: string | undefined
}

/** @throws AppError `forbidden` for keys and the static token, which are nobody who could join. */
export function sessionShown({ db, now }: Pick<IdentityContext, 'db' | 'now'>, { request, actor }: SessionCall): SessionShown | undefined {
  if (actor !== undefined && actor.type !== 'user')
    throw new AppError('forbidden', 'An invite is accepted by a person: with a session, or with name and password.')
  const credential = credentialOf(request.headers)
  if (credential.kind === 'session') {
    const user = findSessionUser(db, credential.token, now())
    return user && { user, cookieToken: credential.token }
  }
  const user = credential.kind === 'bearer' ? findDeviceUser(db, credential.token, now()) : undefined
  return user && { user, cookieToken: undefined }
}

/** Counts attempts by address, as logins are: a token is no more to be guessed than a password. */
export async function counted<T>(throttle: Throttle, address: string, accept: () => Promise<T>): Promise<T> {
  const counter = networkOf(address)
  throttle.begin([counter])
  const result = await accept()
  throttle.takeBack(counter)
  return result
}

export function acceptAsUser(context: IdentityContext, { body, change, note }: AcceptCall, user: SessionUser): SignIn['signedIn'] {
  if (body.password !== undefined || body.name !== undefined)
    throw invalidValue('/password', 'You are logged in: leave name and password out, or log out first to accept as somebody else.')
  noteInvite(note, requireInvite(context, body.token), user)
  const { workspaceId } = change(() => joinByInvite(context, body.token, user))
  const { id, email, name } = user
  return { user: { id, email, name }, workspace: { id: workspaceId, name: findWorkspace(context.db, workspaceId)?.name ?? '' } }
}

/** Without a session: a new account, or one in no workspace. @throws AppError as `joinByInvite`; `conflict`, `unauthorized`. */
export async function acceptByPassword(context: IdentityContext, call: AcceptCall): Promise<SignIn> {
  const { token, password } = call.body
  const invite = requireInvite(context, token)
  const owner = findUserByEmail(context.db, invite.email)
  if (owner !== undefined && findFirstMembership(context.db, owner.id) !== undefined)
    throw new AppError('conflict', `There is an account for ${invite.email}. Log in first, then accept the invite.`)
  if (password === undefined)
    throw invalidValue('/password', `Give a name and a password for the account of ${invite.email}, or log in first.`)
  if (owner !== undefined) return await acceptAsOwner(context, call, { owner, invite, password })
  refuseRegistration(context.config, true)
  const passwordHash = await hashPassword(password)
  const createdAt = context.now()
  return call.change(() => {
    // The hash took its time: two may have accepted with the same token, or the account may have been made meanwhile.
    requireInvite(context, token)
    if (findUserByEmail(context.db, invite.email) !== undefined)
      throw new AppError('conflict', `There is an account for ${invite.email} now. Log in first, then accept the invite.`)
    const user = openAccount(context.db, { email: invite.email, name: call.body.name ?? '', passwordHash, createdAt })
    noteInvite(call.note, invite, user)
    joinByInvite(context, token, user)
    return beginSession(context.db, user, { place: placeOf(call), now: createdAt })
  })
}

interface Ownership {
  owner: StoredUser
  invite: StoredInvite
  password: string
}

/** The user becomes a member within the sign-in, which would be refused to somebody in no workspace. */
async function acceptAsOwner(context: IdentityContext, call: AcceptCall, { owner, invite, password }: Ownership): Promise<SignIn> {
  noteInvite(call.note, invite, owner)
  return await signIn(context, {
    email: owner.email,
    password,
    otp: call.body.otp,
    place: placeOf(call),
    change: (apply) =>
      call.change(() => {
        joinByInvite(context, call.body.token, owner)
        return apply()
      }),
  })
}

function noteInvite(note: AcceptCall['note'], invite: StoredInvite, { id, email }: { id: string; email: string }): void {
  const { workspaceId, role } = invite
  note({ actor: { type: 'user', id, email }, workspaceIds: [workspaceId], target: invite.id, metadata: { email: invite.email, role } })
}
