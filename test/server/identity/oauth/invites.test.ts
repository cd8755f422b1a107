import { afterAll, beforeAll, expect, test } from 'vitest'
import { call } from '../../../support/client.ts'
import { defaultWorkspaceId } from '../../../support/members.ts'
import { ada, asVisitor, grace, type OAuthWorld, signInWith, startOAuthWorld } from '../../../support/oauth/world.ts'

let world: OAuthWorld
beforeAll(async () => {
  world = await startOAuthWorld({ env: { CP_REGISTRATION: 'invite' } })
})
afterAll(() => world.close())

async function invite(email = ''): Promise<string> {
  const json = { email, role: 'viewer' }
  const { body } = await call<{ token: string }>(`${world.publicUrl}/v1/team-invites`, { json, token: world.server.adminToken })
  return body.token
}

test('while registration is closed, nobody gets an account without an invite', async () => {
  expect((await signInWith(world, 'github', ada)).path).toBe('/login?error=registration_closed')
})

test('an invite for another address, used up, or made up gives nobody an account', async () => {
  const query = { inviteToken: await invite('somebody@example.com') }
  expect((await signInWith(world, 'google', ada, { query })).path).toMatch(/^\/login\?error=invite_invalid/)
  expect((await signInWith(world, 'google', ada, { query: { inviteToken: 'made-up' } })).path).toMatch(/^\/login\?error=invite_invalid/)
})

test('whoever is invited gets an account in the workspace of the invite, once', async () => {
  const query = { inviteToken: await invite(ada.email) }
  const { path, visitor } = await signInWith(world, 'google', ada, { query })
  expect(path).toBe('/')
  const me = await call(`${world.publicUrl}/v1/auth/me`, asVisitor(world, visitor))
  expect(me.body).toMatchObject({
    actor: { email: ada.email, name: ada.name },
    role: 'viewer',
    workspace: { id: await defaultWorkspaceId(world.server) },
  })
  expect((await signInWith(world, 'google', grace, { query })).path).toMatch(/^\/login\?error=invite_invalid/)
})

test('a member who was removed comes back by an invite, with the account they had', async () => {
  const first = await signInWith(world, 'apple', grace, { query: { inviteToken: await invite(grace.email) } })
  const { body } = await call<{ id: string }>(`${world.publicUrl}/v1/users`, asVisitor(world, first.visitor))
  const removed = await call(`${world.publicUrl}/v1/team-members/${body.id}`, { method: 'DELETE', token: world.server.adminToken })
  expect(removed.status).toBe(204)
  expect((await signInWith(world, 'apple', grace)).path).toBe('/login?error=no_workspace')
  const again = await signInWith(world, 'apple', grace, { query: { inviteToken: await invite(grace.email) } })
  expect(again.path).toBe('/')
  expect((await call(`${world.publicUrl}/v1/users`, asVisitor(world, again.visitor))).body).toMatchObject({ id: body.id })
})

test.each(['cross-site', 'same-site', 'none'])(
  'an invite is shown before it is accepted to who comes from elsewhere (%s)',
  async (site) => {
    const token = await invite(`${site}@example.com`)
    const reply = await call(`${world.publicUrl}/v1/auth/oauth/google?inviteToken=${token}`, { headers: { 'sec-fetch-site': site } })
    expect(reply.headers.get('location')).toBe(`${world.publicUrl}/invite?token=${token}`)
  },
)
