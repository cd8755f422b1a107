import type { ProviderId } from '../../../shared/oauth.ts'
import type { CallOptions } from '../client.ts'
import { freePorts } from '../free-ports.ts'
import { startTestServer, type TestServer, type TestServerOptions } from '../server.ts'
import type { ProviderAccount } from './account-page.ts'
import { type AppleStandIn, startApple } from './apple.ts'
import { type GithubStandIn, startGithub } from './github.ts'
import { type OpenIdOptions, type OpenIdProvider, startOpenIdProvider } from './openid-provider.ts'
import { createVisitor, type Page, type Visitor } from './visitor.ts'

export const ada: ProviderAccount = { id: '1001', name: 'Ada Lovelace', email: 'ada@example.com', isVerified: true }
export const grace: ProviderAccount = { id: '1002', name: 'Grace Hopper', email: 'grace@example.com', isVerified: true }
export const mallory: ProviderAccount = { id: '1003', name: 'Mallory Unverified', email: 'victim@example.com', isVerified: false }
export const nobody: ProviderAccount = { id: '1004', name: 'No Address', isVerified: false }
export const katherine: ProviderAccount = { id: '1005', name: 'Katherine Johnson', email: 'katherine@example.com', isVerified: true }
const accounts = [ada, grace, mallory, nobody, katherine]

/** The three providers, and where each of them sends people back to. */
export interface Providers {
  publicUrl: string
  listen: string
  github: GithubStandIn
  google: OpenIdProvider
  apple: AppleStandIn
  env: Record<string, string>
  close(): Promise<void>
}

/** Starts the providers for a server that people reach at `localhost`: of another site than theirs, as in the world. */
export async function startProviders(options: OpenIdOptions = {}): Promise<Providers> {
  const [port = 0] = freePorts(1)
  const publicUrl = `http://localhost:${port}`
  const callback = (id: ProviderId) => `${publicUrl}/v1/auth/oauth/${id}/callback`
  const github = startGithub(accounts, callback('github'))
  const google = await startOpenIdProvider(accounts, callback('google'), options)
  const apple = startApple(accounts, callback('apple'))
  return {
    publicUrl,
    listen: `127.0.0.1:${port}`,
    github,
    google,
    apple,
    env: { ...github.env, ...google.env, ...apple.env },
    async close() {
      await Promise.all([github.close(), google.close(), apple.close()])
    },
  }
}

export interface OAuthWorld extends Providers {
  server: TestServer
}

/** A server whose people sign in with the three providers. Anybody may register unless `env` says otherwise. */
export async function startOAuthWorld(options: TestServerOptions & OpenIdOptions = {}): Promise<OAuthWorld> {
  const providers = await startProviders(options)
  const env = {
    ...providers.env,
    CP_LISTEN: providers.listen,
    CP_PUBLIC_URL: providers.publicUrl,
    CP_REGISTRATION: 'open',
    CP_LOGIN_LIMIT: '1000',
    ...options.env,
  }
  const server = await startTestServer({ ...options, env })
  return {
    ...providers,
    server,
    async close() {
      await server.close()
      await providers.close()
    },
  }
}

const isOurs = (publicUrl: string) => (url: string) => url.startsWith(publicUrl) && !url.startsWith(`${publicUrl}/v1/`)

export interface Journey {
  visitor?: Visitor
  query?: Record<string, string>
  headers?: Record<string, string>
}

/** Goes to a provider and gives the page on which one chooses an account; a refusal at the start gives that. */
export async function goToProvider(
  { publicUrl }: Providers,
  id: ProviderId,
  { visitor = createVisitor(), query = {}, headers = {} }: Journey = {},
): Promise<Page> {
  const start = await visitor.open(`${publicUrl}/v1/auth/oauth/${id}?${new URLSearchParams(query)}`, { headers })
  return visitor.follow(start, isOurs(publicUrl))
}

/** Chooses an account at a provider, and gives the request by which the browser is to come back, not sent yet. */
export async function chooseAccount(
  { publicUrl }: Providers,
  page: Page,
  { visitor, account }: { visitor: Visitor; account: ProviderAccount | undefined },
): Promise<Page> {
  const chosen = await visitor.press(page, account?.id ?? '')
  return visitor.follow(chosen, (url) => url.startsWith(publicUrl))
}

/** Comes back to us, and gives the URL of the page one ends on. */
export async function comeBack({ publicUrl }: Providers, page: Page, visitor: Visitor): Promise<string> {
  // Apple's page has the browser send a form, the others redirect.
  const back = page.location === undefined ? await visitor.press(page) : await visitor.open(page.location)
  const end = await visitor.follow(back, isOurs(publicUrl))
  return end.location ?? `${end.status} ${end.text}`
}

/** A whole sign-in: the path, with its query, of the page one ends on. */
export async function signInWith(
  world: Providers,
  id: ProviderId,
  account: ProviderAccount | undefined,
  { visitor = createVisitor(), ...journey }: Journey = {},
): Promise<{ path: string; visitor: Visitor }> {
  const page = await goToProvider(world, id, { visitor, ...journey })
  const ending = page.location ?? (await comeBack(world, await chooseAccount(world, page, { visitor, account }), visitor))
  return { path: ending.replace(world.publicUrl, ''), visitor }
}

/** What a visitor sends to the API as a page of ours would. */
export function asVisitor({ publicUrl }: Providers, visitor: Visitor): CallOptions {
  const token = visitor.cookie(new URL(publicUrl).host, 'cpd_session')
  return { headers: { origin: publicUrl }, ...(token === undefined ? {} : { cookie: `cpd_session=${token}` }) }
}
