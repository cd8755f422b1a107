import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { RoleName } from './role.ts'
import { StrictObject, visibleChar } from './schema.ts'

/** Marks of the credentials, so that secret scanners find them: keys of workspaces and nothing else begin with this. */
export const apiKeyPrefix = 'cpk_'

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
