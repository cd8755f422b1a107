/**
 * Whose account it is that somebody signs in to through a provider.
 *
 * An account is known by issuer and subject. By e-mail it is known only once, and only when both sides are sure: the provider says that
 * the address is verified, and the account has shown that mail to the address reaches its owner. Registering shows nothing: whoever
 * registers first with the address of somebody else would have that person sign in to an account, and to a workspace, that the first one
 * keeps the password, keys and colleagues of. Dropping password and sessions on linking would leave the keys, devices and members that were
 * planted there. So such an account is refused with the way out: its owner logs in with the password and links, or resets the password by
 * e-mail, which shows that the address is theirs and ends what others know.
 */
import type { OAuthProblem } from '../../../shared/oauth.ts'
import type { Profile } from './providers/provider.ts'

/** What is known here before somebody is let in. */
export interface SignInFacts {
  profile: Pick<Profile, 'email' | 'isEmailVerified'>
  /** The user that the account of the provider is linked to. */
  linkedUserId: string | undefined
  /** The account with the same address. */
  namesake: { id: string; isEmailProven: boolean; hasIdentityHere: boolean } | undefined
  /** The invite that comes with the sign-in, with the address it is for; undefined address, when it cannot be accepted now. */
  invite: { email: string | undefined } | undefined
  isRegistrationOpen: boolean
}

export type SignInDecision =
  | { kind: 'enter'; userId: string }
  | { kind: 'link_and_enter'; userId: string }
  | { kind: 'join'; email: string }
  | { kind: 'register'; email: string }
  | { kind: 'refuse'; problem: OAuthProblem }

const refuse = (problem: OAuthProblem): SignInDecision => ({ kind: 'refuse', problem })

/** Whose account somebody enters whom no session shows: one there is, a new one, or none. */
export function decideSignIn({ profile, linkedUserId, namesake, invite, isRegistrationOpen }: SignInFacts): SignInDecision {
  if (linkedUserId !== undefined) return { kind: 'enter', userId: linkedUserId }
  const { email, isEmailVerified } = profile
  if (email === undefined || !isEmailVerified) return refuse('email_unverified')
  if (namesake !== undefined) {
    // A second account at the provider with the address of the first: the address was given to somebody else.
    if (!namesake.isEmailProven || namesake.hasIdentityHere) return refuse('account_exists')
    return { kind: 'link_and_enter', userId: namesake.id }
  }
  if (invite !== undefined) {
    const isInvited = invite.email !== undefined && isSameAddress(email, invite.email)
    return isInvited ? { kind: 'join', email } : refuse('invite_invalid')
  }
  return isRegistrationOpen ? { kind: 'register', email } : refuse('registration_closed')
}

/** As the database compares them: letter case does not tell addresses apart. */
const isSameAddress = (left: string, right: string): boolean => asciiLower(left) === asciiLower(right)

const asciiLower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

export interface LinkFacts {
  /** Whose link was begun, and who is logged in now that it ends. */
  wantedUserId: string
  sessionUserId: string | undefined
  /** The user that the account of the provider is linked to already. */
  linkedUserId: string | undefined
  /** The account at this provider that is linked to the user now. */
  present: { issuer: string; subject: string } | undefined
  profile: Pick<Profile, 'issuer' | 'subject'>
}

export type LinkDecision = { kind: 'link' } | { kind: 'linked_already' } | { kind: 'refuse'; problem: OAuthProblem }

/** Whether an account at a provider becomes a way into the account of the user who is logged in. */
export function decideLink({ wantedUserId, sessionUserId, linkedUserId, present, profile }: LinkFacts): LinkDecision {
  if (sessionUserId !== wantedUserId) return { kind: 'refuse', problem: 'link_needs_login' }
  if (linkedUserId === wantedUserId) return { kind: 'linked_already' }
  if (linkedUserId !== undefined) return { kind: 'refuse', problem: 'identity_taken' }
  // One of an issuer that was configured before can be used no more, and makes room.
  if (present !== undefined && present.issuer === profile.issuer) return { kind: 'refuse', problem: 'provider_linked' }
  return { kind: 'link' }
}

/** Whether somebody can still sign in without that provider. */
export const mayUnlink = ({ hasPassword, otherIdentities }: { hasPassword: boolean; otherIdentities: number }): boolean =>
  hasPassword || otherIdentities > 0

/** How old a session may be from which a provider is linked: a browser that was left open gives nobody a way in for good. */
export const LINK_SESSION_MS = 15 * 60_000
