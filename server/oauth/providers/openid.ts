import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretPost,
  type Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
} from 'openid-client'
import { isSafeUrl } from '../../outgoing/rules.ts'
import type { AppleSettings, OpenIdSettings } from '../settings.ts'
import { appleClientSecret } from './apple-client-secret.ts'
import { emailIn, profileOfClaims } from './claims.ts'
import { answeredUrl, type ClientDeps, challengeOf, clientMetadata, guardedFetch, loopbackAllowance } from './client.ts'
import type { Provider } from './provider.ts'

/** How long what a provider says of itself is remembered. Its keys are asked for again as soon as one is unknown. */
export const DISCOVERY_MS = 60 * 60_000

/** Google, or any other provider that speaks OpenID Connect. */
export const createOpenIdProvider = (settings: OpenIdSettings, redirectUri: string, deps: ClientDeps): Provider =>
  providerOf(
    { settings, authentication: ClientSecretPost(settings.clientSecret), parameters: { scope: 'openid email profile' }, isPkceSure: true },
    redirectUri,
    deps,
  )

/**
 * Sign in with Apple: OpenID Connect whose client secret is signed anew for each exchange, and which, when asked for a name or an e-mail
 * address, has the browser bring its answer as a form.
 *
 * @see https://developer.apple.com/documentation/signinwithapplerestapi
 */
export const createAppleProvider = (settings: AppleSettings, redirectUri: string, deps: ClientDeps): Provider =>
  providerOf(
    {
      settings,
      authentication(_, client, body) {
        body.set('client_id', client.client_id)
        body.set('client_secret', appleClientSecret(settings, deps.now()))
      },
      parameters: { scope: 'name email', response_mode: 'form_post' },
      isPkceSure: false,
    },
    redirectUri,
    deps,
  )

interface OpenIdKind {
  settings: OpenIdSettings | AppleSettings
  authentication: ClientAuth
  parameters: Record<string, string>
  /** Whether PKCE is sent to a provider that does not say it knows it: who does not, leaves it out of account. Apple documents none. */
  isPkceSure: boolean
}

function providerOf(kind: OpenIdKind, redirectUri: string, deps: ClientDeps): Provider {
  const { settings } = kind
  const configuration = remembered(() => discover(kind, deps), deps.now)
  const usesPkce = (config: Configuration) => kind.isPkceSure || config.serverMetadata().supportsPKCE()
  return {
    id: settings.id,
    name: settings.name,
    async authorizationUrl(secrets) {
      const config = await configuration()
      const { state, nonce } = secrets
      const challenge = usesPkce(config) ? await challengeOf(secrets) : {}
      const url = buildAuthorizationUrl(config, { redirect_uri: redirectUri, state, nonce, ...kind.parameters, ...challenge })
      if (!isSafeUrl(url)) throw new Error(`The provider wants its users at ${url.origin}, which is not https`)
      return url
    },
    async profileOf(answer, { state, nonce, verifier }) {
      const config = await configuration()
      const tokens = await authorizationCodeGrant(config, answeredUrl(redirectUri, answer, state), {
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
        ...(usesPkce(config) && { pkceCodeVerifier: verifier }),
      })
      const claims = tokens.claims()
      if (claims === undefined) throw new Error('The provider gave no ID token')
      const profile = profileOfClaims(claims, await userInfoOf(config, claims, tokens.access_token))
      return { ...profile, name: profile.name ?? answer.name }
    },
  }
}

/** Asked for where the token does not hold the address, as the standard has it (OpenID Connect Core, section 5.4). */
async function userInfoOf(
  config: Configuration,
  { sub, email }: { sub: string; email?: unknown },
  accessToken: string,
): Promise<Record<string, unknown>> {
  if (emailIn(email) !== undefined || config.serverMetadata().userinfo_endpoint === undefined) return {}
  return fetchUserInfo(config, accessToken, sub)
}

function discover({ settings, authentication }: OpenIdKind, deps: ClientDeps): Promise<Configuration> {
  const { issuer, clientId } = settings
  return discovery(new URL(issuer), clientId, clientMetadata, authentication, {
    [customFetch]: guardedFetch([issuer], deps),
    // Signatures are verified though the token comes over TLS from where it was made: the one thing that a proxy in between cannot forge.
    execute: [enableNonRepudiationChecks, ...loopbackAllowance(issuer)],
  })
}

/** Asks once for all who want it at a time; what failed is asked again by the next one. */
function remembered<T>(ask: () => Promise<T>, now: () => number): () => Promise<T> {
  let asked: { at: number; outcome: Promise<T> } | undefined
  return () => {
    if (asked !== undefined && now() - asked.at < DISCOVERY_MS) return asked.outcome
    const outcome = ask()
    const mine = { at: now(), outcome }
    asked = mine
    outcome.catch(() => {
      if (asked === mine) asked = undefined
    })
    return outcome
  }
}
