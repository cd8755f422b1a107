import { DisplayName, Email } from '../../../../shared/auth.ts'
import { createChecker } from '../../../http/input/validate.ts'
import type { Profile } from './provider.ts'

// What providers say is text of strangers: what does not have the form of an address or a name counts as absent.

const emailForm = createChecker(Email)
const nameForm = createChecker(DisplayName)

export const emailIn = (value: unknown): string | undefined => (typeof value === 'string' && emailForm.accepts(value) ? value : undefined)

export function nameIn(value: unknown): string | undefined {
  const name = typeof value === 'string' ? value.trim() : ''
  return name !== '' && nameForm.accepts(name) ? name : undefined
}

/** Apple writes its booleans as text now and then. */
export const isTrue = (value: unknown): boolean => value === true || value === 'true'

export function profileOfClaims(
  token: Record<string, unknown> & { iss: string; sub: string },
  userInfo: Record<string, unknown> = {},
): Profile {
  // The address and whether it is verified come from one place: neither says anything of the other's.
  const source = token.email === undefined ? userInfo : token
  const email = emailIn(source.email)
  return {
    issuer: token.iss,
    subject: token.sub,
    email,
    isEmailVerified: email !== undefined && isTrue(source.email_verified),
    name: nameIn(token.name) ?? nameIn(userInfo.name),
  }
}

/** An account has one primary address, which may be unverified. */
export function profileOfGithub(issuer: string, user: unknown, emails: unknown): Profile {
  const { id, name, login } = recordOf(user)
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) throw new Error('GitHub names no id of its user')
  const primary = (Array.isArray(emails) ? emails.map(recordOf) : []).find((one) => one.primary === true)
  const email = emailIn(primary?.email)
  const isEmailVerified = email !== undefined && primary?.verified === true
  return { issuer, subject: String(id), email, isEmailVerified, name: nameIn(name) ?? nameIn(login) }
}

/** Apple's form sends the name the first time only. */
export function nameOfAppleForm(user: string | undefined): string | undefined {
  const name = recordOf(recordOf(parsed(user)).name)
  return nameIn([name.firstName, name.lastName].filter((part) => typeof part === 'string').join(' '))
}

function parsed(json: string | undefined): unknown {
  try {
    return JSON.parse(json ?? '')
  } catch {
    return undefined
  }
}

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
