import { type Static, Type } from '@sinclair/typebox'
import { DisplayName, Email, NewPassword, Otp } from './auth.ts'
import { Id } from './id.ts'
import { InviteToken } from './invite-token.ts'
import { RoleName } from './role.ts'
import { OneOf, StrictObject, Time } from './schema.ts'
import { Scope, ScopeInput } from './scope.ts'

export const INVITE_DAYS = 7

export const MemberParams = Type.Object({ memberId: Type.String({ description: 'Id of the user' }) })

export const TeamMember = Type.Object({
  id: Id('user'),
  userId: Id('user'),
  name: Type.String(),
  email: Type.String(),
  role: Type.String(),
  scope: Scope,
  twoFactorEnabled: Type.Boolean(),
  status: Type.Literal('active'),
  createdAt: Time,
  lastSeenAt: Type.Optional(Time),
})
export type TeamMember = Static<typeof TeamMember>

/** What Render calls roles: each role of ours is told as one of these, and one that a workspace made as the contributor's. */
const ownerRoles = ['ADMIN', 'DEVELOPER', 'WORKSPACE_CONTRIBUTOR', 'WORKSPACE_BILLING', 'WORKSPACE_VIEWER'] as const
export type OwnerRole = (typeof ownerRoles)[number]

export const OwnerMember = Type.Object({
  userId: Id('user'),
  name: Type.String(),
  email: Type.String(),
  status: Type.Literal('active'),
  role: OneOf(ownerRoles),
  mfaEnabled: Type.Boolean(),
})
export type OwnerMember = Static<typeof OwnerMember>

export const TeamMemberPatch = StrictObject({ role: Type.Optional(RoleName), scope: Type.Optional(ScopeInput) })
export type TeamMemberPatch = Static<typeof TeamMemberPatch>

export const TeamInviteCreate = StrictObject({ email: Email, role: RoleName, scope: Type.Optional(ScopeInput) })
export type TeamInviteCreate = Static<typeof TeamInviteCreate>

const inviteFields = {
  id: Id('invite'),
  email: Type.String(),
  role: Type.String(),
  scope: Scope,
  expiresAt: Time,
  createdAt: Time,
}

export const TeamInvite = Type.Object(inviteFields)
export type TeamInvite = Static<typeof TeamInvite>

export const TeamInviteCreated = Type.Object({
  ...inviteFields,
  acceptUrl: Type.String({ description: 'Page on which the invite is accepted, with the token in it' }),
  token: Type.String({ description: 'Shown once, never again' }),
  emailed: Type.Boolean({
    description:
      'Whether the mail server has taken a mail with the link; false where none is configured, and after too many mails in a short time',
  }),
})
export type TeamInviteCreated = Static<typeof TeamInviteCreated>

export const TeamInviteAccept = StrictObject({
  token: InviteToken,
  name: Type.Optional(DisplayName),
  password: Type.Optional(NewPassword),
  otp: Type.Optional(Otp),
})
export type TeamInviteAccept = Static<typeof TeamInviteAccept>
