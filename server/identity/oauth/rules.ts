/**
 * Registering does not show whose an address is: whoever registers first with somebody else's would have them sign in to an account that
 * the first one keeps the password and keys of. So both sides must be sure of it, once; else the owner logs in and links.
 */
import type { OAuthProblem } from '../../../shared/oauth.ts'
import type { Profile } from './providers/provider.ts'

export interface SignInFacts {
  profile: Pick<Profile, 'email' | 'isEmailVerified'>
  linkedUserId: string | undefined
  namesake: { id: string; isEmailProven: boolean; hasIdentityHere: boolean } | undefined
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

const isSameAddress = (left: string, right: string): boolean => asciiLower(left) === asciiLower(right)

const asciiLower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

export interface LinkFacts {
  wantedUserId: string
  sessionUserId: string | undefined
  linkedUserId: string | undefined
  present: { issuer: string; subject: string } | undefined
  profile: Pick<Profile, 'issuer' | 'subject'>
}

export type LinkDecision = { kind: 'link' } | { kind: 'linked_already' } | { kind: 'refuse'; problem: OAuthProblem }

export function decideLink({ wantedUserId, sessionUserId, linkedUserId, present, profile }: LinkFacts): LinkDecision {
  if (sessionUserId !== wantedUserId) return { kind: 'refuse', problem: 'link_needs_login' }
  if (linkedUserId === wantedUserId) return { kind: 'linked_already' }
  if (linkedUserId !== undefined) return { kind: 'refuse', problem: 'identity_taken' }
  // One of an issuer that was configured before can be used no more, and makes room.
  if (present !== undefined && present.issuer === profile.issuer) return { kind: 'refuse', problem: 'provider_linked' }
  return { kind: 'link' }
}

export const mayUnlink = ({ hasPassword, otherIdentities }: { hasPassword: boolean; otherIdentities: number }): boolean =>
  hasPassword || otherIdentities > 0

export const LINK_SESSION_MS = 15 * 60_000
