import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { permissionNames } from './permission.ts'
import { OneOf, StrictObject, Unsupported, visibleChar } from './schema.ts'

export const minPasswordChars = 10

/** One address, no display name; what is before the @ is the mail server's own business. */
export const Email = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: '^[^\\s@<>"\\u0000-\\u001f]+@[^\\s@<>"\\u0000-\\u001f]+$',
  examples: ['ada@example.com'],
})
const NewPassword = Type.String({ minLength: minPasswordChars, maxLength: 1024, examples: ['correct horse battery'] })
const DisplayName = Type.String({ maxLength: 100, pattern: `^${visibleChar}*$` })

export const RegisterBody = StrictObject({
  email: Email,
  password: NewPassword,
  name: Type.Optional(DisplayName),
  workspaceName: Type.Optional(DisplayName),
  inviteToken: Unsupported(),
})
export type RegisterBody = Static<typeof RegisterBody>

export const LoginBody = StrictObject({
  email: Type.String({ maxLength: 254, examples: ['admin@localhost'] }),
  password: Type.String({ maxLength: 1024 }),
  otp: Unsupported(),
})
export type LoginBody = Static<typeof LoginBody>

export const User = Type.Object({ id: Id('user'), email: Type.String(), name: Type.String() })
export type User = Static<typeof User>

export const Workspace = Type.Object({ id: Id('workspace'), name: Type.String() })
export type Workspace = Static<typeof Workspace>

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
})
export type Me = Static<typeof Me>

export const Owner = Type.Object({ id: Id('workspace'), name: Type.String(), email: Type.String(), type: Type.Literal('team') })
export type Owner = Static<typeof Owner>

/** Marks of the credentials, so that secret scanners find them: keys of workspaces and nothing else begin with this. */
export const apiKeyPrefix = 'cpk_'

export const RoleName = Type.String({ minLength: 1, maxLength: 64, examples: ['developer'] })

export const ApiKeyCreate = StrictObject({
  name: Type.String({ minLength: 1, maxLength: 100, pattern: `^${visibleChar}*$`, examples: ['ci'] }),
  role: Type.Optional(RoleName),
})
export type ApiKeyCreate = Static<typeof ApiKeyCreate>

const apiKeyFields = {
  id: Id('apiKey'),
  name: Type.String(),
  role: Type.String(),
  created_at: Type.String({ description: 'RFC 3339, UTC, milliseconds' }),
}
export const ApiKey = Type.Object(apiKeyFields, { $id: 'ApiKey', additionalProperties: false })
export type ApiKey = Static<typeof ApiKey>

export const ApiKeyCreated = Type.Object(
  { ...apiKeyFields, secret: Type.String({ description: 'Shown once, never again' }) },
  { additionalProperties: false },
)
export type ApiKeyCreated = Static<typeof ApiKeyCreated>

export const PermissionEntry = Type.Object({ name: OneOf(permissionNames), description: Type.String() })

export const Role = Type.Object({
  id: Id('role'),
  name: Type.String(),
  description: Type.String(),
  permissions: Type.Array(OneOf(permissionNames)),
  builtIn: Type.Boolean(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})
export type Role = Static<typeof Role>
