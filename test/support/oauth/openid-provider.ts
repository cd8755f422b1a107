import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type Configuration, type KoaContextWithOIDC } from 'oidc-provider'
import { accountPage, type ProviderAccount } from './account-page.ts'

/** oidc-provider, a certified OpenID provider, with accounts to choose from on a page. */
export interface OpenIdProvider {
  issuer: string
  env: Record<string, string>
  /** Changes what the token endpoint answers. */
  tamper: { tokens?: (answer: Record<string, unknown>) => void }
  close(): Promise<void>
}

export interface OpenIdOptions {
  /** Whether the ID token holds the address, as Google's does; else only the userinfo, as the standard has it. */
  isTokenFull?: boolean
}

const client = { id: 'cpd-at-the-company', secret: 'openid-client-secret-0123456789' }

export async function startOpenIdProvider(
  accounts: readonly ProviderAccount[],
  redirectUri: string,
  { isTokenFull = false }: OpenIdOptions = {},
): Promise<OpenIdProvider> {
  let serve: (request: IncomingMessage, response: ServerResponse) => void = () => {}
  const server = createServer((request, response) => serve(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, configurationOf(accounts, redirectUri, isTokenFull))
  const tamper: OpenIdProvider['tamper'] = {}
  provider.use(async (context, next) => {
    await next()
    if (context.path === '/token' && typeof context.body === 'object') tamper.tokens?.(context.body as unknown as Record<string, unknown>)
  })
  const answer = provider.callback()
  serve = (request, response) => {
    if (request.url?.startsWith('/interaction/'))
      interact({ provider, accounts }, request, response).catch((error) => response.destroy(error))
    else void answer(request, response)
  }
  return {
    issuer,
    env: {
      CP_GOOGLE_CLIENT_ID: client.id,
      CP_GOOGLE_CLIENT_SECRET: client.secret,
      CP_GOOGLE_ISSUER: issuer,
      CP_GOOGLE_NAME: 'The Company',
    },
    tamper,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function configurationOf(accounts: readonly ProviderAccount[], redirectUri: string, isTokenFull: boolean): Configuration {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'of-the-tests', use: 'sig', alg: 'RS256' }] },
    cookies: { keys: ['a key of the tests for cookies'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: !isTokenFull,
    pkce: { required: () => true },
    scopes: ['openid', 'email', 'profile'],
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: KoaContextWithOIDC, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: KoaContextWithOIDC, id: string) => {
      const account = accounts.find((one) => one.id === id)
      return account && { accountId: id, claims: async () => claimsOf(account) }
    },
    // Who signs in agrees.
    async loadExistingGrant(context: KoaContextWithOIDC) {
      const grant = new context.oidc.provider.Grant({ clientId: client.id, accountId: context.oidc.session?.accountId ?? '' })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
  } as Configuration
}

const claimsOf = ({ id, name, email, isVerified }: ProviderAccount) => ({
  sub: id,
  name,
  ...(email === undefined ? {} : { email, email_verified: isVerified }),
})

async function interact(
  { provider, accounts }: { provider: Provider; accounts: readonly ProviderAccount[] },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === 'GET') {
    const page = accountPage('Sign in to The Company', accounts)
    response.setHeader('content-type', page.headers.get('content-type') ?? '')
    response.end(await page.text())
    return
  }
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const accountId = new URLSearchParams(Buffer.concat(chunks).toString()).get('account') ?? ''
  const result = accountId === '' ? { error: 'access_denied', error_description: 'The user went back' } : { login: { accountId } }
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
}
