import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LINK_SESSION_MS } from '../../../../server/identity/oauth/rules.ts'
import { call } from '../../../support/client.ts'
import { memberPassword, registerTenant, type Tenant } from '../../../support/members.ts'
import { createVisitor, type Visitor } from '../../../support/oauth/visitor.ts'
import {
  ada,
  asVisitor,
  chooseAccount,
  comeBack,
  goToProvider,
  grace,
  mallory,
  type OAuthWorld,
  signInWith,
  startOAuthWorld,
} from '../../../support/oauth/world.ts'

let world: OAuthWorld
let clockMs = 0
beforeAll(async () => {
  world = await startOAuthWorld({ parts: { now: () => Date.now() + clockMs } })
})
afterAll(() => world.close())

const fromOurPage = { 'sec-fetch-site': 'same-origin' }
const linkQuery = { link: 'true' }

/** A visitor who is logged in with a password. */
async function loggedIn(email: string): Promise<{ tenant: Tenant; visitor: Visitor }> {
  const tenant = await registerTenant(world.server, email)
  const visitor = createVisitor()
  await login(visitor, email)
  return { tenant, visitor }
}

async function login(visitor: Visitor, email: string): Promise<void> {
  const reply = await call(`${world.publicUrl}/v1/auth/login`, { json: { email, password: memberPassword } })
  visitor.keep(new URL(world.publicUrl).host, reply.headers)
}

const ask = <T>(visitor: Visitor, path: string, method = 'GET') =>
  call<T>(`${world.publicUrl}/v1/auth${path}`, { method, ...asVisitor(world, visitor) })
const linked = async (visitor: Visitor) =>
  (await ask<{ identity: { provider: string } }[]>(visitor, '/identities')).body.map(({ identity }) => identity.provider)

describe('a user who is logged in', () => {
  test('links a provider, even one of another address, and signs in with it from then on', async () => {
    const { tenant, visitor } = await loggedIn('linker@example.com')
    const { path } = await signInWith(world, 'github', mallory, { visitor, query: linkQuery, headers: fromOurPage })
    expect(path).toBe('/account')
    expect(await linked(visitor)).toEqual(['github'])
    const later = await signInWith(world, 'github', mallory)
    expect(later.path).toBe('/')
    expect((await ask<{ id: string }>(later.visitor, '/me')).body).toMatchObject({ actor: { id: tenant.userId } })
  })

  test('shows by a verified link that the address of the account is theirs', async () => {
    const { visitor } = await loggedIn('ada@example.com')
    expect((await signInWith(world, 'google', ada)).path).toBe('/login?error=account_exists')
    expect((await signInWith(world, 'github', ada, { visitor, query: linkQuery, headers: fromOurPage })).path).toBe('/account')
    expect((await signInWith(world, 'google', ada)).path).toBe('/')
  })

  test('cannot link what is linked to somebody else, nor a second account of the same provider', async () => {
    const { visitor } = await loggedIn('second@example.com')
    const journey = { visitor, query: linkQuery, headers: fromOurPage }
    expect((await signInWith(world, 'github', mallory, journey)).path).toBe('/account?error=identity_taken')
    expect((await signInWith(world, 'apple', grace, journey)).path).toBe('/account')
    expect((await signInWith(world, 'apple', mallory, journey)).path).toBe('/account?error=provider_linked')
    expect((await signInWith(world, 'apple', grace, journey)).path).toBe('/account')
  })

  test('unlinks a provider, but not the only way to sign in', async () => {
    const { visitor } = await loggedIn('unlinker@example.com')
    expect((await ask(visitor, '/identities/google', 'DELETE')).status).toBe(404)
    await signInWith(world, 'google', mallory, { visitor, query: linkQuery, headers: fromOurPage })
    expect((await ask(visitor, '/identities/google', 'DELETE')).status).toBe(204)
    expect(await linked(visitor)).toEqual([])
    expect((await signInWith(world, 'google', mallory)).path).toBe('/login?error=email_unverified')
  })
})

test('an account that a provider made keeps its last provider', async () => {
  const fresh = await startOAuthWorld()
  try {
    const { visitor } = await signInWith(fresh, 'github', grace)
    const remove = (id: string) => call(`${fresh.publicUrl}/v1/auth/identities/${id}`, { method: 'DELETE', ...asVisitor(fresh, visitor) })
    expect((await remove('github')).status).toBe(409)
    await signInWith(fresh, 'google', grace, { visitor })
    const again = await call(`${fresh.publicUrl}/v1/auth/identities/github`, { method: 'DELETE', ...asVisitor(fresh, visitor) })
    expect(again.status).toBe(204)
  } finally {
    await fresh.close()
  }
})

describe('a link is begun', () => {
  const wanted = '/login?error=link_needs_login'

  test.each([
    ['by nobody who is logged in', undefined, fromOurPage],
    ['by a link on another site', 'cross@example.com', { 'sec-fetch-site': 'cross-site' }],
    ['by an address that was typed or sent', 'typed@example.com', { 'sec-fetch-site': 'none' }],
    ['by a client that says nothing of where it comes from', 'silent@example.com', {}],
  ])('not %s', async (_, email, headers) => {
    const { visitor } = email === undefined ? { visitor: createVisitor() } : await loggedIn(email)
    const { path } = await signInWith(world, 'github', grace, { visitor, query: linkQuery, headers })
    expect(path).toBe(`${wanted}&returnTo=%2Faccount`)
  })

  test('not from a session that is old', async () => {
    const { visitor } = await loggedIn('old@example.com')
    clockMs = LINK_SESSION_MS + 1
    const { path } = await signInWith(world, 'github', grace, { visitor, query: linkQuery, headers: fromOurPage })
    clockMs = 0
    expect(path).toContain(wanted)
  })

  test('not with an API key', async () => {
    const { token } = await registerTenant(world.server, 'key@example.com')
    const reply = await call(`${world.publicUrl}/v1/auth/oauth/github?link=true`, { token, headers: fromOurPage })
    expect(reply.headers.get('location')).toContain('link_needs_login')
  })
})

test('a link is not made when somebody else has logged in meanwhile', async () => {
  const { visitor } = await loggedIn('first@example.com')
  const page = await goToProvider(world, 'google', { visitor, query: linkQuery, headers: fromOurPage })
  const answer = await chooseAccount(world, page, { visitor, account: grace })
  await registerTenant(world.server, 'other@example.com')
  await login(visitor, 'other@example.com')
  expect(await comeBack(world, answer, visitor)).toContain('error=link_needs_login')
  expect(await linked(visitor)).toEqual([])
})

test('identities of others are not shown to keys, nor to the static token', async () => {
  const { tenant } = await loggedIn('shown@example.com')
  for (const token of [tenant.token, world.server.adminToken]) {
    expect((await call(`${world.publicUrl}/v1/auth/identities`, { token })).status).toBe(403)
    expect((await call(`${world.publicUrl}/v1/auth/identities/github`, { method: 'DELETE', token })).status).toBe(403)
  }
})
