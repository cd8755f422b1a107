import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretPost,
  type Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
} from 'openid-client'
import { isSafeUrl } from '../../../platform/outgoing/rules.ts'
import { emailIn, profileOfClaims } from './claims.ts'
import { answeredUrl, type ClientDeps, challengeOf, clientMetadata, guardedFetch, loopbackAllowance } from './client.ts'
import type { Provider } from './provider.ts'
import type { OpenIdSettings } from './settings.ts'

/** Keys are asked for again as soon as one is unknown. */
export const DISCOVERY_MS = 60 * 60_000

/** PKCE goes to every provider: who does not know it, leaves it out of account. */
export function createOpenIdProvider(settings: OpenIdSettings, redirectUri: string, deps: ClientDeps): Provider {
  const configuration = remembered(() => discover(settings, deps), deps.now)
  return {
    id: settings.id,
    name: settings.name,
    async authorizationUrl(secrets) {
      const config = await configuration()
      const { state, nonce } = secrets
      const asked = { redirect_uri: redirectUri, scope: 'openid email profile', state, nonce, ...(await challengeOf(secrets)) }
      const url = buildAuthorizationUrl(config, asked)
      if (!isSafeUrl(url)) throw new Error(`The provider wants its users at ${url.origin}, which is not https`)
      return url
    },
    async profileOf(answer, { state, nonce, verifier }) {
      const config = await configuration()
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true }
      const tokens = await authorizationCodeGrant(config, answeredUrl(redirectUri, answer, state), checks)
      const claims = tokens.claims()
      if (claims === undefined) throw new Error('The provider gave no ID token')
      return profileOfClaims(claims, await userInfoOf(config, claims, tokens.access_token))
    },
  }
}

/** Asked for where the token does not hold the address (OpenID Connect Core, section 5.4). */
async function userInfoOf(
  config: Configuration,
  { sub, email }: { sub: string; email?: unknown },
  accessToken: string,
): Promise<Record<string, unknown>> {
  if (emailIn(email) !== undefined || config.serverMetadata().userinfo_endpoint === undefined) return {}
  return fetchUserInfo(config, accessToken, sub)
}

function discover({ issuer, clientId, clientSecret }: OpenIdSettings, deps: ClientDeps): Promise<Configuration> {
  return discovery(new URL(issuer), clientId, clientMetadata, ClientSecretPost(clientSecret), {
    [customFetch]: guardedFetch([issuer], deps),
    // Signatures are verified though the token comes over TLS from where it was made: a proxy in between cannot forge that.
    execute: [enableNonRepudiationChecks, ...loopbackAllowance(issuer)],
  })
}

function remembered<T>(ask: () => Promise<T>, now: () => number): () => Promise<T> {
  let asked: { at: number; outcome: Promise<T> } | undefined
  return () => {
    if (asked !== undefined && now() - asked.at < DISCOVERY_MS) return asked.outcome
    const mine = { at: now(), outcome: ask() }
    asked = mine
    mine.outcome.catch(() => {
      if (asked === mine) asked = undefined
    })
    return mine.outcome
  }
}
