import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { RoleName } from './role.ts'
import { StrictObject, TimeInput, visibleChar } from './schema.ts'
import { Scope, ScopeInput } from './scope.ts'

/** Marks of the credentials, so that secret scanners find them: keys of workspaces and nothing else begin with this. */
export const apiKeyPrefix = 'cpk_'

export const ApiKeyCreate = StrictObject({
  name: Type.String({ minLength: 1, maxLength: 100, pattern: `^${visibleChar}*$`, examples: ['ci'] }),
  role: Type.Optional(RoleName),
  scope: Type.Optional(ScopeInput),
  expires_at: Type.Optional(
    Type.Union([TimeInput, Type.Null()], {
      description: 'When it ends; null or left out is never, or with the key it is made with',
    }),
  ),
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

const timeOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

export const ApiKeyDetails = Type.Object(
  {
    ...apiKeyFields,
    scope: Scope,
    expires_at: timeOrNull('When it ends; null is never'),
    last_used_at: timeOrNull('Up to a minute late; null is never'),
    created_by: Type.String({ description: 'Id of the user behind it; `static_token` for the operator' }),
  },
  { $id: 'ApiKeyDetails', additionalProperties: false },
)
export type ApiKeyDetails = Static<typeof ApiKeyDetails>
