import { AppError } from '../../../shared/error.ts'
import type { OAuthProblem, ProviderId } from '../../../shared/oauth.ts'
import type { IdentityContext } from '../context.ts'
import { joinByInvite, requireInvite } from '../invites/join.ts'
import type { SessionPlace } from '../sessions/store.ts'
import { beginPendingSignIn } from '../sign-in/pending.ts'
import { beginSession } from '../sign-in/sign-in.ts'
import { hasTwoFactor } from '../two-factor/store.ts'
import { isEmailProven, proveEmail } from '../users/email-proof.ts'
import { openAccount, openOwnWorkspace } from '../users/open-account.ts'
import { registrationPolicy } from '../users/registration-policy.ts'
import { findUser, findUserByEmail, type StoredUser } from '../users/store.ts'
import { findIdentity, findIdentityAt, putIdentity } from './identity-store.ts'
import type { Profile } from './providers/provider.ts'
import { decideLink, decideSignIn, type SignInFacts } from './rules.ts'

type EnterContext = Pick<IdentityContext, 'db' | 'audit' | 'config' | 'now'>

export interface ProviderSignIn {
  provider: ProviderId
  profile: Profile
  inviteToken: string | undefined
  place: SessionPlace
}

export type Entered =
  | { kind: 'signed_in'; user: StoredUser; sessionToken: string; how: How }
  | { kind: 'code_wanted'; user: StoredUser; pendingToken: string }
  | { kind: 'refused'; problem: OAuthProblem; user?: StoredUser | undefined }

export function enter(context: EnterContext, signIn: ProviderSignIn): Entered {
  const { db, now } = context
  const { profile, provider } = signIn
  const decision = decideSignIn(factsOf(context, signIn))
  switch (decision.kind) {
    case 'refuse':
      return { kind: 'refused', problem: decision.problem, user: namesakeOf(context, profile) }
    case 'enter':
      return begin(context, signIn, { userId: decision.userId, how: 'known' })
    case 'link_and_enter':
      putIdentity(db, identityOf(profile, { provider, userId: decision.userId, createdAt: now() }))
      return begin(context, signIn, { userId: decision.userId, how: 'linked' })
    case 'join':
    case 'register':
      return begin(context, signIn, {
        userId: makeAccount(context, signIn, decision).id,
        how: decision.kind === 'join' ? 'invited' : 'registered',
      })
  }
}

function factsOf(context: EnterContext, { profile, provider, inviteToken }: ProviderSignIn): SignInFacts {
  const { db, config } = context
  const namesake = namesakeOf(context, profile)
  return {
    profile,
    linkedUserId: findIdentity(db, profile.issuer, profile.subject)?.userId,
    namesake: namesake && {
      id: namesake.id,
      isEmailProven: isEmailProven(db, namesake.id),
      hasIdentityHere: findIdentityAt(db, namesake.id, provider)?.issuer === profile.issuer,
    },
    invite:
      inviteToken === undefined || registrationPolicy(config) === 'closed' ? undefined : { email: emailOfInvite(context, inviteToken) },
    isRegistrationOpen: registrationPolicy(config) === 'open',
  }
}

const namesakeOf = ({ db }: EnterContext, { email }: Profile): StoredUser | undefined =>
  email === undefined ? undefined : findUserByEmail(db, email)

const emailOfInvite = (context: EnterContext, token: string): string | undefined => ifPossible(() => requireInvite(context, token))?.email

/** Undefined where other rules forbid it: an invite that cannot be accepted now, a user without a workspace. */
function ifPossible<T>(attempt: () => T): T | undefined {
  try {
    return attempt()
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

function makeAccount(
  context: EnterContext,
  { profile, provider, inviteToken }: ProviderSignIn,
  { kind, email }: { kind: 'join' | 'register'; email: string },
): StoredUser {
  const { db, now } = context
  const createdAt = now()
  const user = openAccount(db, { email, name: profile.name ?? '', passwordHash: '', createdAt })
  proveEmail(db, user.id, createdAt)
  putIdentity(db, identityOf(profile, { provider, userId: user.id, createdAt }))
  if (kind === 'join' && inviteToken !== undefined) joinByInvite(context, inviteToken, user)
  else openOwnWorkspace(db, user, { workspaceName: '', createdAt })
  return user
}

type How = 'known' | 'linked' | 'invited' | 'registered'

/** A second factor is wanted after a provider's as after a password: the provider may have asked for one, or not. */
function begin(context: EnterContext, { place, inviteToken }: ProviderSignIn, { userId, how }: { userId: string; how: How }): Entered {
  const { db, now } = context
  const user = findUser(db, userId)
  if (user === undefined) throw new Error('An identity belongs to a user who does not exist')
  if (hasTwoFactor(db, userId)) return { kind: 'code_wanted', user, pendingToken: beginPendingSignIn(db, userId, now()) }
  // Whoever comes from the page of an invite has accepted it there.
  const isJoining = how !== 'invited' && inviteToken !== undefined
  const joined = isJoining ? ifPossible(() => joinByInvite(context, inviteToken, user)) : undefined
  const signIn = ifPossible(() => beginSession(db, user, { place, now: now(), ...(joined && { workspaceId: joined.workspaceId }) }))
  if (signIn === undefined) return { kind: 'refused', problem: 'no_workspace', user }
  return { kind: 'signed_in', user, how: joined === undefined ? how : 'invited', sessionToken: signIn.sessionToken }
}

export type Linked = { kind: 'linked' } | { kind: 'linked_already' } | { kind: 'refused'; problem: OAuthProblem }

export function link(
  { db, now }: EnterContext,
  { provider, profile }: Pick<ProviderSignIn, 'provider' | 'profile'>,
  { wantedUserId, sessionUserId }: { wantedUserId: string; sessionUserId: string | undefined },
): Linked {
  const linkedUserId = findIdentity(db, profile.issuer, profile.subject)?.userId
  const present = findIdentityAt(db, wantedUserId, provider)
  const decision = decideLink({ wantedUserId, sessionUserId, linkedUserId, present, profile })
  if (decision.kind === 'refuse') return { kind: 'refused', problem: decision.problem }
  if (decision.kind === 'linked_already') return decision
  putIdentity(db, identityOf(profile, { provider, userId: wantedUserId, createdAt: now() }))
  // Whoever is logged in here is also whom the provider sends the account's mail to.
  const isSameAddress = profile.email !== undefined && findUserByEmail(db, profile.email)?.id === wantedUserId
  if (profile.isEmailVerified && isSameAddress) proveEmail(db, wantedUserId, now())
  return { kind: 'linked' }
}

const identityOf = ({ issuer, subject, email }: Profile, at: { provider: ProviderId; userId: string; createdAt: number }) => ({
  issuer,
  subject,
  email: email ?? null,
  ...at,
})
