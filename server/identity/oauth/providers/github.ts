import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  customFetch,
} from 'openid-client'
import { profileOfGithub } from './claims.ts'
import { answeredUrl, type ClientDeps, challengeOf, clientMetadata, guardedFetch, loopbackAllowance } from './client.ts'
import type { Provider } from './provider.ts'
import type { GithubSettings } from './settings.ts'

const API_VERSION = '2022-11-28'

/**
 * GitHub gives no ID token: its API tells who it is. @see
 * https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
 */
export function createGithubProvider(settings: GithubSettings, redirectUri: string, deps: ClientDeps): Provider {
  const { url, apiUrl, clientId } = settings
  // GitHub calls itself so in the `iss` of its answers (RFC 9207), where it sends one.
  const issuer = `${url}/login/oauth`
  const server = { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/access_token` }
  const config = new Configuration(server, clientId, clientMetadata, ClientSecretPost(settings.clientSecret))
  const fetch = guardedFetch([url, apiUrl], deps)
  config[customFetch] = fetch
  for (const allow of loopbackAllowance(url)) allow(config)

  return {
    id: settings.id,
    name: settings.name,
    authorizationUrl: async (secrets) =>
      buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        state: secrets.state,
        scope: 'user:email',
        ...(await challengeOf(secrets)),
      }),
    async profileOf(answer, { state, verifier }) {
      const checks = { expectedState: state, pkceCodeVerifier: verifier }
      const tokens = await authorizationCodeGrant(config, answeredUrl(redirectUri, answer, state), checks)
      const ask = (path: string) => askApi(fetch, apiUrl + path, tokens.access_token)
      const [user, emails] = await Promise.all([ask('/user'), ask('/user/emails')])
      if (user === undefined) throw new Error('GitHub does not tell whose token it is')
      return profileOfGithub(issuer, user, emails)
    },
  }
}

/** Undefined where the token may not see it: an app may be set up without the right to read addresses. */
async function askApi(fetch: CustomFetch, url: string, token: string): Promise<unknown> {
  const headers = { accept: 'application/vnd.github+json', authorization: `Bearer ${token}`, 'x-github-api-version': API_VERSION }
  const response = await fetch(url, { method: 'GET', headers, body: undefined, redirect: 'manual' })
  if (response.status === 403 || response.status === 404) return undefined
  if (response.status !== 200) throw new Error(`${new URL(url).host} answered with status ${response.status}`)
  return response.json()
}
