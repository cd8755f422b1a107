import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TeamInviteCreated } from '../../../../shared/team.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { call, cookieOf } from '../../../support/client.ts'
import { addMember, defaultWorkspaceId, memberPassword } from '../../../support/members.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
let workspaceId: string
beforeAll(async () => {
  server = await startTestServer({ env: { CP_REGISTRATION: 'invite', CP_LOGIN_LIMIT: '100' } })
  workspaceId = await defaultWorkspaceId(server)
})
afterAll(() => server.close())

async function invite(email: string, at = server): Promise<string> {
  const { body } = await call<TeamInviteCreated>(`${at.url}/v1/team-invites`, { json: { email, role: 'viewer' }, token: at.adminToken })
  return body.token
}
const register = (email: string, more: Record<string, string> = {}, at = server) =>
  call<{ workspace: { id: string } }>(`${at.url}/v1/auth/register`, { json: { email, password: memberPassword, ...more } })
const workspacesOf = async (cookie: string) =>
  (await call<{ owner: { id: string; name: string } }[]>(`${server.url}/v1/owners`, { cookie })).body.map(({ owner }) => owner)

describe('registration by invitation', () => {
  test('refuses who was not invited, before anything is looked up', async () => {
    const { message } = expectError(await register('stranger@example.com'), 'forbidden')
    expect(message).toMatch(/invite/)
    expect(expectError(await register('admin@localhost.example'), 'forbidden').message).toBe(message)
  })

  test('lets who was invited join that workspace, and makes none of their own', async () => {
    const reply = await register('ada@example.com', { inviteToken: await invite('ada@example.com'), name: 'Ada' })
    expect(reply.status).toBe(201)
    expect(reply.body.workspace.id).toBe(workspaceId)
    expect(await workspacesOf(cookieOf(reply))).toMatchObject([{ id: workspaceId }])
  })

  test('makes nobody the administrator of a workspace of their own', async () => {
    const inviteToken = await invite('bea@example.com')
    expectError(await register('bea@example.com', { inviteToken, workspaceName: 'Of Bea' }), 'forbidden')
    expect(server.db.query("SELECT id FROM workspaces WHERE name = 'Of Bea'").all()).toEqual([])
    const reply = await register('bea@example.com', { inviteToken })
    expect((await workspacesOf(cookieOf(reply))).map(({ name }) => name)).toEqual(['Default'])
  })

  test('binds the invite to its address, and to one account', async () => {
    const inviteToken = await invite('carol@example.com')
    const refused = expectError(await register('mallory@example.com', { inviteToken }), 'forbidden')
    // Nor is it a way to find out who has an account.
    expect(expectError(await register('ada@example.com', { inviteToken }), 'forbidden').message).toBe(refused.message)
    expect(server.db.query("SELECT id FROM users WHERE email = 'mallory@example.com'").get()).toBeNull()
    const replies = await Promise.all(Array.from({ length: 4 }, () => register('CAROL@example.com', { inviteToken })))
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(server.db.query("SELECT count(*) AS n FROM users WHERE email = 'carol@example.com'").get()).toEqual({ n: 1 })
    expectError(await register('carol@example.com', { inviteToken }), 'not_found')
    expectError(await register('dan@example.com', { inviteToken: 'no-such-token' }), 'not_found')
  })

  test('is not for who has an account: they log in and accept', async () => {
    const { email } = await addMember(server, workspaceId, 'viewer')
    const outside = `else-${email}`
    server.db.query('UPDATE users SET email = ? WHERE email = ?').run(outside, email)
    server.db.query('DELETE FROM members WHERE user_id = (SELECT id FROM users WHERE email = ?)').run(outside)
    expectError(await register(outside, { inviteToken: await invite(outside) }), 'conflict')
  })
})

test('where registration is closed nobody makes an account, invited or not', async () => {
  const closed = await startTestServer({ env: { CP_REGISTRATION: 'closed' } })
  const token = await invite('ada@example.com', closed)
  const { message } = expectError(await register('ada@example.com', { inviteToken: token }, closed), 'forbidden')
  expect(message).toMatch(/CP_REGISTRATION/)
  const json = { token, name: 'Ada', password: memberPassword }
  expectError(await call(`${closed.url}/v1/team-invites/accept`, { json }), 'forbidden')
  expect(closed.db.query('SELECT count(*) AS n FROM users').get()).toEqual({ n: 1 })
  await closed.close()
})

test('the characters of a password are counted as people count them', async () => {
  const email = 'fox@example.com'
  const token = await invite(email)
  const registerWith = (password: string) => call(`${server.url}/v1/auth/register`, { json: { email, password, inviteToken: token } })
  expect(expectError(await registerWith('🦊'.repeat(9)), 'validation_failed').details).toEqual([
    { path: '/password', message: 'must have at least 10 characters' },
  ])
  expect((await registerWith('🦊'.repeat(10))).status).toBe(201)
})
