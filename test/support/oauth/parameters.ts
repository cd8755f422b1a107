/**
 * The names that providers publish, which the stand-ins hold everything they receive against: a parameter that is missing, unknown or given
 * twice is refused.
 */
export interface Parameters {
  /** Where they are documented. */
  source: string
  required: readonly string[]
  optional: readonly string[]
}

export const githubParameters = {
  authorize: {
    source: 'https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps#1-request-a-users-github-identity',
    // Documented as recommended: redirect_uri, state and the challenge. We cannot do without.
    required: ['client_id', 'redirect_uri', 'scope', 'state', 'code_challenge', 'code_challenge_method'],
    optional: ['login', 'allow_signup', 'prompt', 'response_type'],
  },
  token: {
    source:
      'https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps#2-users-are-redirected-back-to-your-site-by-github',
    required: ['client_id', 'client_secret', 'code', 'redirect_uri', 'code_verifier'],
    // The standard asks for it (RFC 6749 section 4.1.3); GitHub leaves it out of account.
    optional: ['grant_type'],
  },
} as const satisfies Record<string, Parameters>

export const appleParameters = {
  authorize: {
    source: 'https://developer.apple.com/documentation/signinwithapplerestapi/request-an-authorization-to-the-sign-in-with-apple-server.',
    required: ['client_id', 'redirect_uri', 'response_type', 'scope', 'response_mode', 'state', 'nonce'],
    optional: [],
  },
  token: {
    source: 'https://developer.apple.com/documentation/signinwithapplerestapi/generate-and-validate-tokens',
    required: ['client_id', 'client_secret', 'code', 'grant_type', 'redirect_uri'],
    optional: ['refresh_token'],
  },
  secretClaims: {
    source: 'https://developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret',
    required: ['iss', 'iat', 'exp', 'aud', 'sub'],
    optional: [],
  },
} as const satisfies Record<string, Parameters>

/** Apple takes no secret that lives longer, in seconds. */
export const APPLE_SECRET_MAX_SECONDS = 15_777_000

/** What is wrong with the names that were sent; undefined when nothing is. */
export function problemOfNames(names: readonly string[], { required, optional }: Parameters): string | undefined {
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) return `${twice} is given twice`
  const missing = required.find((name) => !names.includes(name))
  if (missing !== undefined) return `${missing} is missing`
  const unknown = names.find((name) => !required.includes(name) && !optional.includes(name))
  return unknown === undefined ? undefined : `${unknown} is not a parameter`
}
