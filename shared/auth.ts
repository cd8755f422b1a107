import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { InviteToken } from './invite-token.ts'
import { permissionNames } from './permission.ts'
import { OneOf, StrictObject, visibleChar } from './schema.ts'
import { Scope } from './scope.ts'
import { Workspace } from './workspace.ts'

export const minPasswordChars = 10

/** A character of an address, each of which a person sees: two that read the same are not to be those of two people. */
const addressChar = visibleChar.replace('[^', '[^\\s@<>"')

/** One address, no display name; what is before the @ is the mail server's own business. */
export const Email = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: `^${addressChar}+@${addressChar}+$`,
  examples: ['ada@example.com'],
})
/** Characters are counted as people and JSON Schema do, which the format sees to: some are two units of a JavaScript string. */
export const NewPassword = Type.String({
  minLength: minPasswordChars,
  format: 'password',
  maxLength: 1024,
  examples: ['correct horse battery'],
})
export const DisplayName = Type.String({ maxLength: 100, pattern: `^${visibleChar}*$` })

export const RegisterBody = StrictObject({
  email: Email,
  password: NewPassword,
  name: Type.Optional(DisplayName),
  workspaceName: Type.Optional(DisplayName),
  inviteToken: Type.Optional(InviteToken),
})
export type RegisterBody = Static<typeof RegisterBody>

export const Otp = Type.String({
  minLength: 1,
  maxLength: 40,
  description: 'Six digits of the authenticator app, or a recovery code',
})

export const LoginBody = StrictObject({
  email: Type.String({ maxLength: 254, examples: ['admin@localhost'] }),
  password: Type.String({ maxLength: 1024 }),
  otp: Type.Optional(Otp),
})
export type LoginBody = Static<typeof LoginBody>

export const User = Type.Object({ id: Id('user'), email: Type.String(), name: Type.String() })
export type User = Static<typeof User>

export const SignedIn = Type.Object({ user: User, workspace: Workspace })
export type SignedIn = Static<typeof SignedIn>

export const Me = Type.Object({
  actor: Type.Object({
    type: OneOf(['user', 'api_key', 'static_token']),
    id: Type.String(),
    name: Type.String(),
    email: Type.Optional(Type.String()),
  }),
  workspace: Workspace,
  role: Type.String(),
  permissions: Type.Array(OneOf(permissionNames)),
  scope: Scope,
})
export type Me = Static<typeof Me>
