import { createHash, randomBytes } from 'node:crypto'
import { accountPage, type ProviderAccount } from './account-page.ts'
import { githubParameters, problemOfNames } from './parameters.ts'

/** A GitHub for tests: it answers as GitHub documents, and writes down every request that is not as GitHub documents it. */
export interface GithubStandIn {
  url: string
  /** For the server that is to sign people in with it. */
  env: Record<string, string>
  /** Refused requests, with the reason. */
  violations: string[]
  /** The `iss` that it sends along; undefined sends none. */
  sent: { iss: string | undefined }
  close(): Promise<void>
}

interface Grant {
  account: ProviderAccount
  redirectUri: string
  challenge: string
}

const client = { id: 'Iv1.0123456789abcdef', secret: 'github-client-secret-0123456789' }
const newToken = () => randomBytes(20).toString('hex')

interface World {
  accounts: readonly ProviderAccount[]
  redirectUri: string
  codes: Map<string, Grant>
  tokens: Map<string, ProviderAccount>
  sent: { iss: string | undefined }
  refuse(reason: string, status?: number): Response
}

export function startGithub(accounts: readonly ProviderAccount[], redirectUri: string): GithubStandIn {
  const violations: string[] = []
  const world: World = {
    accounts,
    redirectUri,
    codes: new Map(),
    tokens: new Map(),
    sent: { iss: undefined },
    refuse(reason, status = 400) {
      violations.push(reason)
      return Response.json({ message: reason }, { status })
    },
  }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url)
      if (pathname === '/login/oauth/authorize') return authorize(world, request, searchParams)
      if (pathname === '/login/oauth/access_token' && request.method === 'POST') return exchange(world, request)
      if (pathname === '/api/user' || pathname === '/api/user/emails') return tell(world, request, pathname)
      return world.refuse(`There is no ${request.method} ${pathname}`, 404)
    },
  })
  const url = `http://127.0.0.1:${server.port}`
  world.sent.iss = `${url}/login/oauth`
  return {
    url,
    env: {
      CP_GITHUB_CLIENT_ID: client.id,
      CP_GITHUB_CLIENT_SECRET: client.secret,
      CP_GITHUB_URL: url,
      CP_GITHUB_API_URL: `${url}/api`,
    },
    violations,
    sent: world.sent,
    close: () => server.stop(true),
  }
}

async function authorize(
  { accounts, redirectUri, codes, sent, refuse }: World,
  request: Request,
  query: URLSearchParams,
): Promise<Response> {
  const wrong =
    problemOfNames([...query.keys()], githubParameters.authorize) ??
    (query.get('client_id') === client.id ? undefined : 'client_id is unknown') ??
    (query.get('redirect_uri') === redirectUri ? undefined : 'redirect_uri is not the registered one') ??
    (query.get('code_challenge_method') === 'S256' ? undefined : 'code_challenge_method is not S256') ??
    (/^[\w-]{43}$/.test(query.get('code_challenge') ?? '') ? undefined : 'code_challenge is none')
  if (wrong !== undefined) return refuse(`authorize: ${wrong}`)
  if (request.method === 'GET') return accountPage('Sign in to GitHub', accounts)
  const chosen = (await request.formData()).get('account')
  const account = accounts.find(({ id }) => id === chosen)
  const target = new URL(redirectUri)
  target.searchParams.set('state', query.get('state') ?? '')
  if (sent.iss !== undefined) target.searchParams.set('iss', sent.iss)
  if (account === undefined) target.searchParams.set('error', 'access_denied')
  else {
    const code = newToken()
    codes.set(code, { account, redirectUri, challenge: query.get('code_challenge') ?? '' })
    target.searchParams.set('code', code)
  }
  return Response.redirect(target.href, 302)
}

/** Answers refusals with status 200, as GitHub does. */
async function exchange({ codes, tokens, refuse }: World, request: Request): Promise<Response> {
  const form = new URLSearchParams(await request.text())
  const names = problemOfNames([...form.keys()], githubParameters.token)
  if (names !== undefined) return refuse(`token: ${names}`)
  if (!request.headers.get('accept')?.includes('application/json'))
    return refuse('token: answers are JSON only where they are asked for as that')
  if (form.get('client_id') !== client.id || form.get('client_secret') !== client.secret) {
    return refuse('token: incorrect_client_credentials', 200)
  }
  const grant = codes.get(form.get('code') ?? '')
  codes.delete(form.get('code') ?? '')
  if (grant === undefined) return bad('bad_verification_code', refuse)
  if (form.get('redirect_uri') !== grant.redirectUri) return bad('redirect_uri_mismatch', refuse)
  const challenge = createHash('sha256')
    .update(form.get('code_verifier') ?? '')
    .digest('base64url')
  if (challenge !== grant.challenge) return bad('bad_code_verifier', refuse)
  const token = `gho_${newToken()}`
  tokens.set(token, grant.account)
  return Response.json({ access_token: token, scope: 'user:email', token_type: 'bearer' })
}

function bad(error: string, refuse: World['refuse']): Response {
  refuse(`token: ${error}`)
  return Response.json({ error, error_description: `The request is refused: ${error}.` })
}

function tell({ tokens, refuse }: World, { headers }: Request, pathname: string): Response {
  if (!headers.has('user-agent')) return refuse('api: requests need a User-Agent', 403)
  const account = tokens.get(headers.get('authorization')?.replace('Bearer ', '') ?? '')
  if (account === undefined) return refuse('api: bad credentials', 401)
  const { id, name, email, isVerified } = account
  if (pathname === '/api/user') return Response.json({ id: Number(id), login: `user-${id}`, name, email: null })
  const addresses = email === undefined ? [] : [{ email, primary: true, verified: isVerified, visibility: null }]
  return Response.json([{ email: `${id}@users.noreply.github.com`, primary: false, verified: true, visibility: null }, ...addresses])
}
