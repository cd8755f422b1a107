import { afterAll, beforeAll, expect, test } from 'vitest'
import { putIdentity } from '../../../../server/identity/oauth/identity-store.ts'
import { call } from '../../../support/client.ts'
import { type Mailbox, startMailbox } from '../../../support/mailbox.ts'
import { registerTenant } from '../../../support/members.ts'
import { asVisitor, grace, mallory, type OAuthWorld, signInWith, startOAuthWorld } from '../../../support/oauth/world.ts'

let mailbox: Mailbox
let world: OAuthWorld
beforeAll(async () => {
  mailbox = await startMailbox()
  world = await startOAuthWorld({ env: mailbox.env })
})
afterAll(async () => {
  await world.close()
  await mailbox.close()
})

test('an address that somebody else has registered is got back by a mailed link, without what they linked', async () => {
  const { userId } = await registerTenant(world.server, grace.email ?? '')
  const issuer = `${world.github.url}/login/oauth`
  putIdentity(world.server.db, { issuer, subject: mallory.id, provider: 'github', userId, email: null, createdAt: Date.now() })
  expect((await signInWith(world, 'google', grace)).path).toBe('/login?error=account_exists')

  await call(`${world.publicUrl}/v1/auth/password-reset`, { json: { email: grace.email } })
  const { parsed } = await mailbox.newestTo(grace.email ?? '')
  const token = /token=([\w-]+)/.exec(parsed.text ?? '')?.[1]
  const reset = await call(`${world.publicUrl}/v1/auth/password-reset/confirm`, { json: { token, password: 'a password of grace' } })
  expect(reset.status).toBe(204)

  const { path, visitor } = await signInWith(world, 'google', grace)
  expect(path).toBe('/')
  expect((await call(`${world.publicUrl}/v1/users`, asVisitor(world, visitor))).body).toMatchObject({ id: userId })
  expect((await signInWith(world, 'github', mallory)).path).toBe('/login?error=email_unverified')
})
