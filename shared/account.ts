import { type Static, Type } from '@sinclair/typebox'
import { Email, NewPassword, Otp } from './auth.ts'
import { Id } from './id.ts'
import { OneOf, StrictObject, Time } from './schema.ts'
import { Workspace } from './workspace.ts'

/** The password of the account that is signed in, once more, before something about the account itself is changed. */
const Password = Type.String({ maxLength: 1024, description: 'The present password', examples: ['correct horse battery'] })

export const Session = Type.Object({
  id: Id('session'),
  kind: OneOf(['browser', 'device']),
  address: Type.String({ description: 'Where it was begun' }),
  client: Type.String({ description: 'What the client calls itself' }),
  createdAt: Time,
  lastSeenAt: Time,
  expiresAt: Time,
  isCurrent: Type.Boolean({ description: 'Whether it is the one that asks' }),
})
export type Session = Static<typeof Session>

export const PasswordChange = StrictObject({ currentPassword: Password, newPassword: NewPassword })
export type PasswordChange = Static<typeof PasswordChange>

export const PasswordResetRequest = StrictObject({ email: Email })

export const PasswordResetRequested = Type.Object({ message: Type.String({ description: 'What happens next' }) })

export const PasswordResetConfirm = StrictObject({
  token: Type.String({ minLength: 1, maxLength: 200, pattern: '^[!-~]*$', examples: ['token-of-the-link'] }),
  password: NewPassword,
})
export type PasswordResetConfirm = Static<typeof PasswordResetConfirm>

export const PasswordResetLink = Type.Object({
  url: Type.Optional(
    Type.String({
      description: 'Shown once, never again. Absent for an account that belongs to other workspaces as well: only its mailbox gets it',
    }),
  ),
  expiresAt: Time,
  emailed: Type.Boolean({ description: 'Whether the mail server has taken a mail with the link; false where none is configured' }),
})
export type PasswordResetLink = Static<typeof PasswordResetLink>

export const TwoFactorState = Type.Object({
  enabled: Type.Boolean(),
  enabledAt: Type.Optional(Time),
  recoveryCodesLeft: Type.Integer(),
  requiredBy: Type.Array(Workspace, { description: 'Workspaces that let nobody in without it' }),
})
export type TwoFactorState = Static<typeof TwoFactorState>

const optionalPassword = Type.Optional(
  Type.String({ ...Password, description: 'The present password; an account without one signs in anew at most 10 minutes before instead' }),
)

export const TwoFactorBegin = StrictObject({ password: optionalPassword })

export const TwoFactorSecret = Type.Object({
  secret: Type.String({ description: 'Base32, to be typed into an authenticator app. Shown here only' }),
  otpauthUrl: Type.String({ description: 'The same for a QR code' }),
})
export type TwoFactorSecret = Static<typeof TwoFactorSecret>

export const TwoFactorConfirm = StrictObject({
  code: Type.String({ minLength: 1, maxLength: 40, description: 'Six digits that the app shows now', examples: ['123456'] }),
})

/** What takes away or renews the second factor needs both. */
export const TwoFactorProof = StrictObject({ password: optionalPassword, otp: Type.String({ ...Otp, examples: ['123456'] }) })
export type TwoFactorProof = Static<typeof TwoFactorProof>

export const RecoveryCodes = Type.Object({
  recoveryCodes: Type.Array(Type.String(), { description: 'Each is good once, in place of a code of the app. Shown here only' }),
})
