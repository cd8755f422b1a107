import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign, verify } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accountPage, formPostPage, type ProviderAccount } from './account-page.ts'
import { APPLE_SECRET_MAX_SECONDS, appleParameters, problemOfNames } from './parameters.ts'

/** An Apple for tests, which verifies what it is sent as Apple documents it, the signed client secret above all. */
export interface AppleStandIn {
  url: string
  env: Record<string, string>
  violations: string[]
  /** Changes the claims of ID tokens before they are signed, or the token afterwards. */
  tamper: { claims?: (claims: Record<string, unknown>) => void; token?: (token: string) => string }
  close(): Promise<void>
}

interface Grant {
  account: ProviderAccount
  nonce: string
}

interface World {
  url: string
  accounts: readonly ProviderAccount[]
  redirectUri: string
  teamKey: KeyObject
  signingKey: KeyObject
  codes: Map<string, Grant>
  /** Whom the name was told of already. */
  greeted: Set<string>
  tamper: AppleStandIn['tamper']
  refuse(error: string, reason: string): Response
}

const client = { id: 'com.example.cpd', teamId: 'TEAM123456', keyId: 'KEY1234567' }
const SIGNING_KEY_ID = 'stand-in'

export function startApple(accounts: readonly ProviderAccount[], redirectUri: string): AppleStandIn {
  const folder = mkdtempSync(join(tmpdir(), 'cpd-apple-'))
  const team = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signing = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const keyFile = join(folder, `AuthKey_${client.keyId}.p8`)
  writeFileSync(keyFile, team.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  const violations: string[] = []
  const world: World = {
    url: '',
    accounts,
    redirectUri,
    teamKey: team.publicKey,
    signingKey: signing.privateKey,
    codes: new Map(),
    greeted: new Set(),
    tamper: {},
    refuse(error, reason) {
      violations.push(reason)
      return Response.json({ error, error_description: reason }, { status: 400 })
    },
  }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url)
      if (pathname === '/auth/authorize') return authorize(world, request, searchParams)
      if (pathname === '/auth/token' && request.method === 'POST') return exchange(world, request)
      if (pathname === '/auth/keys') return Response.json({ keys: [publicJwk(signing.publicKey)] })
      return world.refuse('not_found', `There is no ${request.method} ${pathname}`)
    },
  })
  world.url = `http://127.0.0.1:${server.port}`
  return {
    url: world.url,
    env: {
      CP_APPLE_CLIENT_ID: client.id,
      CP_APPLE_TEAM_ID: client.teamId,
      CP_APPLE_KEY_ID: client.keyId,
      CP_APPLE_PRIVATE_KEY_FILE: keyFile,
      CP_APPLE_ISSUER: world.url,
    },
    violations,
    tamper: world.tamper,
    async close() {
      await server.stop(true)
      rmSync(folder, { recursive: true })
    },
  }
}

const publicJwk = (key: KeyObject) => ({
  ...createPublicKey(key.export({ type: 'spki', format: 'pem' })).export({ format: 'jwk' }),
  kid: SIGNING_KEY_ID,
  alg: 'RS256',
  use: 'sig',
})

async function authorize(
  { accounts, redirectUri, codes, greeted, refuse }: World,
  request: Request,
  query: URLSearchParams,
): Promise<Response> {
  const wrong =
    problemOfNames([...query.keys()], appleParameters.authorize) ??
    (query.get('client_id') === client.id ? undefined : 'client_id is unknown') ??
    (query.get('redirect_uri') === redirectUri ? undefined : 'redirect_uri is not the registered one') ??
    (query.get('response_type') === 'code' ? undefined : 'response_type is not code') ??
    // "If you requested any scopes, the value must be form_post."
    (query.get('response_mode') === 'form_post' ? undefined : 'response_mode must be form_post where scopes are asked for') ??
    (/^(name|email)( (name|email))?$/.test(query.get('scope') ?? '') ? undefined : 'scope is not name or email')
  if (wrong !== undefined) return refuse('invalid_request', `authorize: ${wrong}`)
  if (request.method === 'GET') return accountPage('Sign in with Apple', accounts)
  const chosen = (await request.formData()).get('account')
  const account = accounts.find(({ id }) => id === chosen)
  const state = query.get('state') ?? ''
  if (account === undefined) return formPostPage(redirectUri, { state, error: 'user_cancelled_authorize' })
  const code = `c${randomBytes(16).toString('hex')}.0.abcd.${randomBytes(8).toString('hex')}`
  codes.set(code, { account, nonce: query.get('nonce') ?? '' })
  const [firstName = '', lastName = ''] = account.name.split(' ')
  const user = greeted.has(account.id) ? {} : { user: JSON.stringify({ name: { firstName, lastName }, email: account.email }) }
  greeted.add(account.id)
  return formPostPage(redirectUri, { state, code, ...user })
}

async function exchange(world: World, request: Request): Promise<Response> {
  const { url, redirectUri, codes, refuse } = world
  const form = new URLSearchParams(await request.text())
  const names = problemOfNames([...form.keys()], appleParameters.token)
  if (names !== undefined) return refuse('invalid_request', `token: ${names}`)
  const secret = problemOfSecret(form.get('client_secret') ?? '', world.teamKey, url)
  if (form.get('client_id') !== client.id || secret !== undefined)
    return refuse('invalid_client', `token: ${secret ?? 'client_id is unknown'}`)
  const code = form.get('code') ?? ''
  const grant = codes.get(code)
  codes.delete(code)
  if (form.get('grant_type') !== 'authorization_code') return refuse('unsupported_grant_type', 'token: grant_type')
  if (grant === undefined || form.get('redirect_uri') !== redirectUri) return refuse('invalid_grant', 'token: code is unknown or used')
  const accessToken = randomBytes(16).toString('hex')
  const idToken = idTokenOf(world, grant, accessToken)
  return Response.json({
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: 3600,
    refresh_token: `r${accessToken}`,
    id_token: idToken,
  })
}

function problemOfSecret(jwt: string, teamKey: KeyObject, audience: string): string | undefined {
  const [head = '', body = '', signature = ''] = jwt.split('.')
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString() || '{}') as Record<string, unknown>
  const header = read(head)
  const claims = read(body)
  const isSigned = verify(
    'sha256',
    Buffer.from(`${head}.${body}`),
    { key: teamKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  const now = Date.now() / 1000
  const { iat, exp } = claims as { iat: number; exp: number }
  return (
    problemOfNames(Object.keys(claims), appleParameters.secretClaims) ??
    (header.alg === 'ES256' && header.kid === client.keyId ? undefined : 'the header of the secret names another key') ??
    (isSigned ? undefined : 'the secret is not signed by the team') ??
    (claims.iss === client.teamId && claims.sub === client.id && claims.aud === audience ? undefined : 'the secret is for somebody else') ??
    (iat <= now + 60 && exp > now && exp <= now + APPLE_SECRET_MAX_SECONDS ? undefined : 'the secret is not good now, or for too long')
  )
}

function idTokenOf({ url, signingKey, tamper }: World, { account, nonce }: Grant, accessToken: string): string {
  const now = Math.floor(Date.now() / 1000)
  const hash = createHash('sha256').update(accessToken).digest()
  const claims: Record<string, unknown> = {
    iss: url,
    aud: client.id,
    sub: account.id,
    iat: now,
    exp: now + 600,
    nonce,
    nonce_supported: true,
    at_hash: hash.subarray(0, 16).toString('base64url'),
    auth_time: now,
    // Apple sends its booleans as text, too.
    ...(account.email === undefined ? {} : { email: account.email, email_verified: String(account.isVerified) }),
  }
  tamper.claims?.(claims)
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const signed = `${encode({ alg: 'RS256', kid: SIGNING_KEY_ID })}.${encode(claims)}`
  const token = `${signed}.${sign('sha256', Buffer.from(signed), signingKey).toString('base64url')}`
  return tamper.token?.(token) ?? token
}
