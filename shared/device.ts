import { type Static, Type } from '@sinclair/typebox'
import { ErrorBody } from './error.ts'
import { OneOf, StrictObject, Time, visibleChar } from './schema.ts'
import { Workspace } from './workspace.ts'

/** Prefixes by which scanners, and people, know the tokens of device sessions. */
export const accessTokenPrefix = 'cpd_at_'
export const refreshTokenPrefix = 'cpd_rt_'

export const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code'
export const refreshGrantType = 'refresh_token'

/** The id by which OAuth knows cpctl. */
export const cpctlClientId = 'cpctl'

/** Consonants that are not taken for each other or for digits, and spell no words: RFC 8628, section 6.1. */
export const userCodeAlphabet = 'BCDFGHJKLMNPQRSTVWXZ'
export const userCodeLetters = 8

/** The form in which a user code is kept: its letters. Undefined for what is none, however it is typed. */
export function userCodeOf(typed: string): string | undefined {
  const letters = typed.toUpperCase().replace(/[\s\-‐‑–—]/g, '')
  return letters.length === userCodeLetters && [...letters].every((letter) => userCodeAlphabet.includes(letter)) ? letters : undefined
}

/** The code as it is read out and typed, in two halves. */
export const showUserCode = (code: string): string => `${code.slice(0, userCodeLetters / 2)}-${code.slice(userCodeLetters / 2)}`

/** Errors of OAuth, which its clients read in the field `error`: RFC 6749, section 5.2, and RFC 8628, section 3.5. */
export const oauthErrors = [
  'authorization_pending',
  'slow_down',
  'access_denied',
  'expired_token',
  'invalid_grant',
  'unsupported_grant_type',
] as const
export type OAuthErrorCode = (typeof oauthErrors)[number]

export const OAuthError = Type.Composite([
  Type.Object(ErrorBody.properties),
  Type.Object({
    error: Type.Optional(OneOf(oauthErrors)),
    error_description: Type.Optional(Type.String()),
  }),
])

const ClientId = Type.String({ maxLength: 100, pattern: '^[!-~]*$', examples: [cpctlClientId] })
const Scope = Type.Optional(Type.String({ maxLength: 1000, description: 'Ignored: a device acts as the user who lets it in' }))
const Token = Type.String({ maxLength: 512 })

export const DeviceGrantBody = StrictObject({
  client_id: Type.Optional(ClientId),
  client_name: Type.Optional(
    Type.String({
      maxLength: 100,
      pattern: `^${visibleChar}*$`,
      description: 'Shown to the user who is asked; the User-Agent in its absence',
      examples: ['cpctl on laptop'],
    }),
  ),
  scope: Scope,
})

export const DeviceGrant = Type.Object({
  device_code: Type.String({ description: 'For the device alone' }),
  user_code: Type.String({ description: 'For the user to compare or type', examples: ['BCDF-GHJK'] }),
  verification_uri: Type.String(),
  verification_uri_complete: Type.String(),
  expires_in: Type.Integer({ description: 'Seconds' }),
  interval: Type.Integer({ description: 'Seconds to wait between two polls' }),
})
export type DeviceGrant = Static<typeof DeviceGrant>

export const DeviceTokenBody = StrictObject({
  grant_type: Type.String({ maxLength: 100, examples: [deviceGrantType] }),
  device_code: Token,
  client_id: Type.Optional(ClientId),
})

export const RefreshBody = StrictObject({
  grant_type: Type.String({ maxLength: 100, examples: [refreshGrantType] }),
  refresh_token: Token,
  client_id: Type.Optional(ClientId),
  scope: Scope,
})

export const DeviceTokens = Type.Object({
  access_token: Type.String(),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'Seconds' }),
  refresh_token: Type.String({ description: 'Good for one refresh, which gives the next' }),
})
export type DeviceTokens = Static<typeof DeviceTokens>

export const RevokeBody = StrictObject({
  token: Type.Optional(Token),
  token_type_hint: Type.Optional(Type.String({ maxLength: 100 })),
  client_id: Type.Optional(ClientId),
})

export const DeviceRequest = Type.Object({
  userCode: Type.String({ examples: ['BCDF-GHJK'] }),
  client: Type.String({ description: 'What the program calls itself' }),
  address: Type.String({ description: 'Address it asks from' }),
  createdAt: Time,
  expiresAt: Time,
  status: OneOf(['pending', 'approved', 'denied']),
  workspaces: Type.Array(Type.Object({ ...Workspace.properties, role: Type.String() }), {
    description: 'Where it will be able to do what the user can',
  }),
})
export type DeviceRequest = Static<typeof DeviceRequest>

const UserCode = Type.String({ minLength: 1, maxLength: 40, examples: ['BCDF-GHJK'] })
export const DeviceRequestQuery = Type.Object({ code: UserCode })
export const DeviceAnswerBody = StrictObject({ code: UserCode, approve: Type.Boolean() })
