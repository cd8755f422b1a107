/** The stand-ins refuse what GitHub and Apple document that they refuse: what they let pass is worth something. */
import { createHash, generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../../../server/boot/settings/config.ts'
import { appleClientSecret } from '../../../../server/identity/oauth/providers/apple-client-secret.ts'
import { type AppleSettings, providerSettingsOf } from '../../../../server/identity/oauth/providers/settings.ts'
import { type AppleStandIn, startApple } from '../../../support/oauth/apple.ts'
import { type GithubStandIn, startGithub } from '../../../support/oauth/github.ts'
import {
  APPLE_SECRET_MAX_SECONDS,
  appleParameters,
  githubParameters,
  type Parameters,
  problemOfNames,
} from '../../../support/oauth/parameters.ts'
import { ada, goToProvider, type OAuthWorld, startOAuthWorld } from '../../../support/oauth/world.ts'

const redirectUri = 'http://localhost:1/v1/auth/oauth/x/callback'
let github: GithubStandIn
let apple: AppleStandIn
beforeAll(() => {
  github = startGithub([ada], redirectUri)
  apple = startApple([ada], redirectUri)
})
afterAll(() => Promise.all([github.close(), apple.close()]))

const verifier = 'v'.repeat(43)
const challenge = createHash('sha256').update(verifier).digest('base64url')

describe('GitHub', () => {
  const asked = () => ({
    client_id: github.env.CP_GITHUB_CLIENT_ID ?? '',
    redirect_uri: redirectUri,
    scope: 'user:email',
    state: 's',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  })
  const authorize = async (change: Record<string, string | undefined> = {}) => {
    const given = Object.entries({ ...asked(), ...change }).filter((one): one is [string, string] => one[1] !== undefined)
    const url = `${github.url}/login/oauth/authorize?${new URLSearchParams(given)}`
    return fetch(url, { method: 'POST', body: new URLSearchParams({ account: ada.id }), redirect: 'manual' })
  }
  const exchange = async (change: Record<string, string> = {}) => {
    const code = new URL((await authorize()).headers.get('location') ?? '').searchParams.get('code') ?? ''
    const form = {
      client_id: asked().client_id,
      client_secret: github.env.CP_GITHUB_CLIENT_SECRET ?? '',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    }
    const response = await fetch(`${github.url}/login/oauth/access_token`, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams({ ...form, ...change }),
    })
    return (await response.json()) as { access_token?: string }
  }

  test('takes what is as documented', async () => {
    expect((await authorize()).status).toBe(302)
    expect((await exchange()).access_token).toMatch(/^gho_/)
  })

  test.each([
    { client_id: 'x' },
    { redirect_uri: 'http://localhost:1/other' },
    { code_challenge_method: 'plain' },
    { code_challenge: 'short' },
    { state: undefined },
    { nonce: 'x' },
  ])('refuses to authorize with %j', async (change) => {
    expect((await authorize(change)).status).toBe(400)
  })

  test.each([
    { client_secret: 'x' },
    { code: 'x' },
    { redirect_uri: 'http://localhost:1/other' },
    { code_verifier: 'w'.repeat(43) },
    { nonce: 'x' },
  ])('refuses to exchange with %j', async (change) => {
    expect((await exchange(change)).access_token).toBeUndefined()
  })
})

describe('Apple', () => {
  const settings = (): AppleSettings => {
    const [one] = providerSettingsOf(readConfig(apple.env, {}, false))
    if (one?.id !== 'apple') throw new Error('The stand-in gives no settings of Apple')
    return one
  }
  const codeOf = async (): Promise<string> => {
    const query = {
      client_id: settings().clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'name email',
      response_mode: 'form_post',
      state: 's',
      nonce: 'n',
    }
    const url = `${apple.url}/auth/authorize?${new URLSearchParams(query)}`
    const page = await (await fetch(url, { method: 'POST', body: new URLSearchParams({ account: ada.id }) })).text()
    return /name="code" value="([^"]*)"/.exec(page)?.[1] ?? ''
  }
  const exchange = async (secret: string, change: Record<string, string> = {}) => {
    const form = {
      client_id: settings().clientId,
      client_secret: secret,
      code: await codeOf(),
      grant_type: 'authorization_code',
      redirect_uri: redirectUri,
    }
    return (await fetch(`${apple.url}/auth/token`, { method: 'POST', body: new URLSearchParams({ ...form, ...change }) })).status
  }

  test('takes the secret that we sign', async () => {
    expect(await exchange(appleClientSecret(settings(), Date.now()))).toBe(200)
  })

  test.each([
    ['of another team', () => ({ ...settings(), teamId: 'OTHER' })],
    ['of another key id', () => ({ ...settings(), keyId: 'OTHER' })],
    ['for another client', () => ({ ...settings(), clientId: 'com.example.other' })],
    ['for another audience', () => ({ ...settings(), issuer: 'https://appleid.apple.com' })],
    ['signed with another key', () => ({ ...settings(), privateKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey })],
  ] as const)('refuses a secret %s', async (_, changed) => {
    expect(await exchange(appleClientSecret(changed(), Date.now()))).toBe(400)
  })

  test('refuses a secret that has expired, or whose time has not come', async () => {
    expect(await exchange(appleClientSecret(settings(), Date.now() - 600_000))).toBe(400)
    expect(await exchange(appleClientSecret(settings(), Date.now() + APPLE_SECRET_MAX_SECONDS * 1000))).toBe(400)
  })

  test('refuses a parameter that it does not document, and a code that is none', async () => {
    const secret = () => appleClientSecret(settings(), Date.now())
    expect(await exchange(secret(), { code_verifier: verifier })).toBe(400)
    expect(await exchange(secret(), { code: 'x' })).toBe(400)
  })
})

describe('what we send', () => {
  let world: OAuthWorld
  beforeAll(async () => {
    world = await startOAuthWorld()
  })
  afterAll(() => world.close())

  test.each(['github', 'apple'] as const)('to authorize at %s has the names that it publishes', async (id) => {
    const page = await goToProvider(world, id)
    const table = { github: githubParameters, apple: appleParameters }[id].authorize
    expect(problemOfNames([...new URL(page.url).searchParams.keys()], table)).toBeUndefined()
  })

  test('each table names where it is documented', () => {
    const tables: Parameters[] = [...Object.values(githubParameters), ...Object.values(appleParameters)]
    for (const { source } of tables) expect(source).toMatch(/^https:\/\/(docs\.github\.com|developer\.apple\.com)\//)
  })

  test('the key of Apple is read from its file and stands nowhere else', () => {
    const pem = readFileSync(world.apple.env.CP_APPLE_PRIVATE_KEY_FILE ?? '', 'utf8')
    expect(JSON.stringify(world.server.logged)).not.toContain(pem.split('\n')[2])
  })
})
