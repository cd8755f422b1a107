import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  Configuration,
  customFetch,
  enableNonRepudiationChecks,
} from 'openid-client'
import { appleClientSecret } from './apple-client-secret.ts'
import { profileOfClaims } from './claims.ts'
import { answeredUrl, type ClientDeps, clientMetadata, guardedFetch, loopbackAllowance } from './client.ts'
import type { Provider } from './provider.ts'
import type { AppleSettings } from './settings.ts'

/**
 * Apple has the browser bring its answer as a form and documents no PKCE: the nonce in its signed token ties the answer to the request.
 * @see https://developer.apple.com/documentation/signinwithapplerestapi
 */
export function createAppleProvider(settings: AppleSettings, redirectUri: string, deps: ClientDeps): Provider {
  const config = configurationOf(settings, deps)
  return {
    id: settings.id,
    name: settings.name,
    authorizationUrl: async ({ state, nonce }) =>
      buildAuthorizationUrl(config, { redirect_uri: redirectUri, scope: 'name email', response_mode: 'form_post', state, nonce }),
    async profileOf(answer, { state, nonce }) {
      const checks = { expectedState: state, expectedNonce: nonce, idTokenExpected: true }
      const tokens = await authorizationCodeGrant(config, answeredUrl(redirectUri, answer, state), checks)
      const claims = tokens.claims()
      if (claims === undefined) throw new Error('Apple gave no ID token')
      return { ...profileOfClaims(claims), name: answer.name }
    },
  }
}

function configurationOf(settings: AppleSettings, deps: ClientDeps): Configuration {
  const { issuer, clientId } = settings
  const at = (path: string) => new URL(path, issuer).href
  const server = {
    issuer,
    authorization_endpoint: at('/auth/authorize'),
    token_endpoint: at('/auth/token'),
    jwks_uri: at('/auth/keys'),
    id_token_signing_alg_values_supported: ['RS256'],
  }
  const authenticate: ClientAuth = (_, client, body) => {
    body.set('client_id', client.client_id)
    body.set('client_secret', appleClientSecret(settings, deps.now()))
  }
  const config = new Configuration(server, clientId, clientMetadata, authenticate)
  config[customFetch] = guardedFetch([issuer], deps)
  enableNonRepudiationChecks(config)
  for (const allow of loopbackAllowance(issuer)) allow(config)
  return config
}
