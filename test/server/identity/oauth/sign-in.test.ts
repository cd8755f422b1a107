import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ProviderId, providerIds } from '../../../../shared/oauth.ts'
import { call } from '../../../support/client.ts'
import { registerTenant } from '../../../support/members.ts'
import { ada, asVisitor, grace, mallory, nobody, type OAuthWorld, signInWith, startOAuthWorld } from '../../../support/oauth/world.ts'
import { until } from '../../../support/until.ts'

let world: OAuthWorld
beforeAll(async () => {
  world = await startOAuthWorld()
})
afterAll(() => world.close())

const ask = <T>(path: string, visitor: Parameters<typeof asVisitor>[1]) => call<T>(world.publicUrl + path, asVisitor(world, visitor))

test('the providers are those that are configured, with where a browser begins', async () => {
  const { body } = await call(`${world.publicUrl}/v1/auth/providers`)
  const authorizeUrl = (id: ProviderId) => `${world.publicUrl}/v1/auth/oauth/${id}`
  expect(body).toEqual([
    { id: 'github', name: 'GitHub', authorizeUrl: authorizeUrl('github') },
    { id: 'google', name: 'The Company', authorizeUrl: authorizeUrl('google') },
    { id: 'apple', name: 'Apple', authorizeUrl: authorizeUrl('apple') },
  ])
})

describe('somebody new', () => {
  test.each(providerIds)('has an account made, with %s, and is known the next time', async (id) => {
    const fresh = await startOAuthWorld()
    try {
      const first = await signInWith(fresh, id, ada)
      expect(first.path).toBe('/')
      const me = await call<{ actor: unknown }>(`${fresh.publicUrl}/v1/auth/me`, asVisitor(fresh, first.visitor))
      expect(me.body).toMatchObject({ actor: { type: 'user', name: 'Ada Lovelace', email: 'ada@example.com' }, role: 'admin' })
      const again = await signInWith(fresh, id, ada)
      const sameMe = await call<{ actor: unknown }>(`${fresh.publicUrl}/v1/auth/me`, asVisitor(fresh, again.visitor))
      expect(sameMe.body.actor).toEqual(me.body.actor)
      expect(fresh.github.violations).toEqual([])
      expect(fresh.apple.violations).toEqual([])
    } finally {
      await fresh.close()
    }
  })

  test('comes to the page that was asked for', async () => {
    expect((await signInWith(world, 'github', grace, { query: { returnTo: '/device?code=ABCD' } })).path).toBe('/device?code=ABCD')
  })

  test.each(providerIds)('whose address %s has not verified gets no account', async (id) => {
    for (const account of [mallory, nobody]) expect((await signInWith(world, id, account)).path).toBe('/login?error=email_unverified')
  })

  test.each(providerIds)('who goes back at %s is told so', async (id) => {
    expect((await signInWith(world, id, undefined)).path).toBe('/login?error=oauth_cancelled')
  })
})

test('a second provider that vouches for the same proven address leads to the same account', async () => {
  const first = await signInWith(world, 'github', grace)
  const second = await signInWith(world, 'google', grace)
  const third = await signInWith(world, 'apple', grace)
  const ids = await Promise.all(
    [first, second, third].map(async ({ visitor }) => (await ask<{ id: string }>('/v1/users', visitor)).body.id),
  )
  expect(new Set(ids).size).toBe(1)
  const identities = await ask<{ identity: { provider: string } }[]>('/v1/auth/identities', third.visitor)
  expect(identities.body.map(({ identity }) => identity.provider)).toEqual(['apple', 'github', 'google'])
})

test('a form of a provider that is none is refused, and one that holds more than we know is taken', async () => {
  const send = async (raw: string, type = 'application/x-www-form-urlencoded') =>
    (await call(`${world.publicUrl}/v1/auth/oauth/apple/callback`, { raw, headers: { 'content-type': type } })).status
  expect(await send('state=a&state=b')).toBe(400)
  expect(await send(`state=${'x'.repeat(5000)}`)).toBe(400)
  expect(await send('{"state":', 'application/json')).toBe(400)
  expect(await send('['.repeat(100_000), 'application/json')).toBe(400)
  expect(await send('state=a', 'text/plain')).toBe(415)
  expect(await send(`state=${'x'.repeat(1024 * 1024)}`)).toBe(413)
  expect(await send('state=a&code=b&something=new')).toBe(303)
})

describe('the audit log tells', () => {
  const entries = () =>
    world.server.db
      .query<{ event: string; status: string; actor: string | null; metadata: string }, []>(
        'SELECT event, status, actor_email AS actor, metadata FROM audit_log ORDER BY created_at, seq',
      )
      .all()

  test('of a sign-in, by whom and with which provider, without code and state', async () => {
    await signInWith(world, 'github', grace)
    const entry = entries().findLast(({ event }) => event === 'user.signed_in_by_provider')
    expect(entry).toMatchObject({ status: 'success', actor: grace.email })
    const metadata = JSON.parse(entry?.metadata ?? '{}')
    expect(metadata).toMatchObject({ provider: 'github', outcome: 'known', request: { code: '[hidden]', state: '[hidden]' } })
  })

  test('of one that was refused beside an account, in the log of that account', async () => {
    await registerTenant(world.server, ada.email ?? '')
    expect((await signInWith(world, 'google', ada)).path).toBe('/login?error=account_exists')
    const denied = () => entries().find(({ event, metadata }) => event === 'access.denied' && metadata.includes('account_exists'))
    await until('it is written down', () => denied() !== undefined)
    expect(JSON.parse(denied()?.metadata ?? '{}')).toMatchObject({ provider: 'google', problem: 'account_exists' })
  })
})
