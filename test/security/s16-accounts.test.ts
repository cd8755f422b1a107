import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { proveEmail } from '../../server/identity/users/email-proof.ts'
import { providerIds } from '../../shared/oauth.ts'
import { call } from '../support/client.ts'
import { memberPassword, registerTenant } from '../support/members.ts'
import type { Visitor } from '../support/oauth/visitor.ts'
import { asVisitor, grace, mallory, type OAuthWorld, signInWith, startOAuthWorld } from '../support/oauth/world.ts'

/** Whose account it is that somebody gets into who has shown, at a provider, an address or none. */
let world: OAuthWorld
beforeAll(async () => {
  world = await startOAuthWorld()
  const victim = await registerTenant(world.server, mallory.email ?? '')
  proveEmail(world.server.db, victim.userId, Date.now())
})
afterAll(() => world.close())

const isSignedIn = ({ publicUrl }: OAuthWorld, visitor: Visitor) => visitor.cookie(new URL(publicUrl).host, 'cpd_session') !== undefined

describe('S16: an account with the same address', () => {
  test.each(providerIds)('is not linked by %s for an address that is not verified', async (id) => {
    const { path, visitor } = await signInWith(world, id, mallory)
    expect(path).toBe('/login?error=email_unverified')
    expect(isSignedIn(world, visitor)).toBe(false)
  })

  test('that somebody registered beforehand, without showing that the address is theirs, is not given to its owner', async () => {
    const fresh = await startOAuthWorld()
    try {
      await registerTenant(fresh.server, grace.email ?? '')
      for (const id of providerIds) {
        const { path, visitor } = await signInWith(fresh, id, grace)
        expect(path).toBe('/login?error=account_exists')
        expect(isSignedIn(fresh, visitor)).toBe(false)
      }
      expect(fresh.server.db.query('SELECT count(*) AS n FROM identities').get()).toEqual({ n: 0 })
    } finally {
      await fresh.close()
    }
  })

  test('is linked once the address was proven, and not to a second account at the same provider', async () => {
    const fresh = await startOAuthWorld()
    try {
      const { userId } = await registerTenant(fresh.server, grace.email ?? '')
      proveEmail(fresh.server.db, userId, Date.now())
      const { visitor } = await signInWith(fresh, 'google', grace)
      expect((await call(`${fresh.publicUrl}/v1/users`, asVisitor(fresh, visitor))).body).toMatchObject({ id: userId })
      // The company has given the address to somebody else.
      fresh.server.db.query("UPDATE identities SET subject = 'former'").run()
      expect((await signInWith(fresh, 'google', grace)).path).toBe('/login?error=account_exists')
    } finally {
      await fresh.close()
    }
  })
})

test('S16: a login password is no part of an account that a provider made, and none logs in to it', async () => {
  await signInWith(world, 'github', grace)
  for (const password of ['', memberPassword]) {
    const reply = await call(`${world.publicUrl}/v1/auth/login`, { json: { email: grace.email, password } })
    expect(reply.status).toBe(401)
  }
})
