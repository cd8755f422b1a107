import { Type } from '@sinclair/typebox'

export const InviteToken = Type.String({ minLength: 1, maxLength: 200, pattern: '^[!-~]*$', description: 'As it stands in the link' })

/** Path and query of the page on which the invite of this token is accepted. */
export const invitePathOf = (token: string): string => `/invite?token=${encodeURIComponent(token)}`
