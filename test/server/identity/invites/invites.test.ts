import { afterEach, beforeEach, expect, test } from 'vitest'
import { MAX_MAILS_OF_WORKSPACE, MAX_MAILS_TO_ADDRESS } from '../../../../server/identity/invites/mail-limit.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { createService } from '../../../support/apps.ts'
import { type Mailbox, startMailbox } from '../../../support/mailbox.ts'
import { addMember, defaultWorkspaceId, makeKey, registerTenant } from '../../../support/members.ts'
import { startTestServer, type TestServer, testAdmin } from '../../../support/server.ts'
import { acceptAsNew, invite, send } from '../team/team.ts'

let server: TestServer
let mailbox: Mailbox | undefined
let admin: { token: string }
let now: number
const DAY_MS = 24 * 3600 * 1000

async function start(env: Record<string, string> = {}): Promise<void> {
  now = Date.now()
  server = await startTestServer({
    env: { CP_PUBLIC_URL: 'https://cp.example.com', CP_REGISTRATION: 'open', ...env },
    parts: { now: () => now },
  })
  admin = { token: server.adminToken }
}

beforeEach(() => start())
afterEach(async () => {
  await server.close()
  await mailbox?.close()
  mailbox = undefined
})

const list = async () => (await send<{ teamInvite: Record<string, unknown> }[]>(server, '/team-invites', admin)).body

test('an invite shows its link once, under the public URL, and keeps the token as a hash only', async () => {
  const created = await invite(server, { email: 'ada@example.com', role: 'Viewer' })
  expect(created).toMatchObject({ email: 'ada@example.com', role: 'viewer', scope: null, emailed: false })
  expect(created.acceptUrl).toBe(`https://cp.example.com/invite?token=${created.token}`)
  expect(Buffer.from(created.token, 'base64url').length).toBeGreaterThanOrEqual(20)
  expect(Date.parse(created.expiresAt) - Date.parse(created.createdAt)).toBe(7 * DAY_MS)
  const listed = await list()
  expect(Object.keys(listed[0]?.teamInvite ?? {}).sort()).toEqual(['createdAt', 'email', 'expiresAt', 'id', 'role', 'scope'])
  const everything = ['invites', 'audit_log', 'idempotency_keys'].flatMap((table) => server.db.query(`SELECT * FROM ${table}`).all())
  expect(JSON.stringify(everything)).not.toContain(created.token)
  expect(server.logged.join('')).not.toContain(created.token)
})

test('the link is mailed where mail is configured', async () => {
  await server.close()
  mailbox = await startMailbox({ login: { user: 'cpd', password: 'mail-password' } })
  await start(mailbox.env)
  const { acceptUrl, emailed } = await invite(server, { email: 'ada@example.com', role: 'viewer' })
  expect(emailed).toBe(true)
  const { parsed, recipients } = await mailbox.newestTo('ada@example.com')
  expect(recipients).toEqual(['ada@example.com'])
  expect(parsed.subject).toBe('Invitation to Default')
  expect(parsed.text).toContain(acceptUrl)
})

test('a mail server that refuses does not hold up the invite', async () => {
  await server.close()
  mailbox = await startMailbox({ server: { onMailFrom: (_, __, done) => done(new Error('Not today')) } })
  await start(mailbox.env)
  const { token, emailed } = await invite(server, { email: 'ada@example.com', role: 'viewer' })
  expect(emailed).toBe(false)
  expect(server.logged.join('')).toContain('Not today')
  expect(server.logged.join('')).not.toContain(token)
  expect((await acceptAsNew(server, token)).status).toBe(200)
})

test('the name of a workspace cannot put headers into the mail', async () => {
  await server.close()
  mailbox = await startMailbox()
  await start(mailbox.env)
  server.db.query('UPDATE workspaces SET name = ?').run('X\r\nBcc: eve@example.com')
  await invite(server, { email: 'ada@example.com', role: 'viewer' })
  const { parsed, recipients } = await mailbox.newestTo('ada@example.com')
  expect(recipients).toEqual(['ada@example.com'])
  expect(parsed.headers.map(({ key }) => key)).not.toContain('bcc')
})

test('a member is not invited, in no spelling', async () => {
  for (const email of [testAdmin.email, testAdmin.email.toUpperCase()])
    expectError(await send(server, '/team-invites', admin, { json: { email, role: 'viewer' } }), 'conflict')
  expect(await list()).toEqual([])
})

test('an address has one invite; after it has expired, or was deleted, another is made', async () => {
  const first = await invite(server, { email: 'ada@example.com', role: 'viewer' })
  const again = () => send<{ token: string }>(server, '/team-invites', admin, { json: { email: 'ADA@example.com', role: 'developer' } })
  expectError(await again(), 'conflict')
  now += 7 * DAY_MS
  const second = await again()
  expect(second.status).toBe(201)
  expect(await list()).toHaveLength(1)
  expectError(await acceptAsNew(server, first.token), 'not_found')
  const [{ teamInvite } = { teamInvite: {} }] = await list()
  expect((await send(server, `/team-invites/${teamInvite.id}`, admin, { method: 'DELETE' })).status).toBe(204)
  expectError(await send(server, `/team-invites/${teamInvite.id}`, admin, { method: 'DELETE' }), 'not_found')
  expectError(await acceptAsNew(server, second.body.token), 'not_found')
  expect((await again()).status).toBe(201)
})

test('two invites to one address at once leave one', async () => {
  const replies = await Promise.all(
    ['viewer', 'developer', 'viewer'].map((role) => send(server, '/team-invites', admin, { json: { email: 'ada@example.com', role } })),
  )
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  expect(await list()).toHaveLength(1)
})

test('nobody invites with more than they have, or takes back the invite of somebody above', async () => {
  const workspaceId = await defaultWorkspaceId(server)
  await send(server, '/roles', admin, { json: { name: 'lead', permissions: ['team.manage', 'team.read'] } })
  const lead = await addMember(server, workspaceId, 'lead')
  expectError(await send(server, '/team-invites', lead, { json: { email: 'a@example.com', role: 'viewer' } }), 'forbidden')
  expect((await invite(server, { email: 'b@example.com', role: 'lead' }, lead)).role).toBe('lead')
  const { id } = await invite(server, { email: 'c@example.com', role: 'admin' })
  expectError(await send(server, `/team-invites/${id}`, lead, { method: 'DELETE' }), 'forbidden')
  expectError(await send(server, '/team-invites', admin, { json: { email: 'd@example.com', role: 'emperor' } }), 'validation_failed')
  const viewer = await makeKey(server, 'viewer')
  expectError(await send(server, '/team-invites', { token: viewer.secret }), 'forbidden')
})

test('invites of another workspace are not there', async () => {
  const stranger = await registerTenant(server, 'stranger@example.com')
  const { id } = await invite(server, { email: 'ada@example.com', role: 'viewer' })
  expectError(await send(server, `/team-invites/${id}`, { token: stranger.token }, { method: 'DELETE' }), 'not_found')
  expect((await send<unknown[]>(server, '/team-invites', { token: stranger.token })).body).toEqual([])
  expect((await invite(server, { email: 'ada@example.com', role: 'viewer' }, { token: stranger.token })).id).not.toBe(id)
  const serviceId = await createService(server, { name: 'mine' })
  expectError(
    await send(
      server,
      '/team-invites',
      { token: stranger.token },
      {
        json: { email: 'eve@example.com', role: 'viewer', scope: { serviceIds: [serviceId] } },
      },
    ),
    'not_found',
  )
})

test.each([
  'ada',
  'ada@',
  'a@b\r\nBcc: c@d',
  'Ada <ada@example.com>',
  'ada@example.com, eve@example.com',
  `${'a'.repeat(250)}@example.com`,
])('the address %j is refused', async (email) => {
  expectError(await send(server, '/team-invites', admin, { json: { email, role: 'viewer' } }), 'validation_failed')
})

test('the same Idempotency-Key gives the same link, and one mail', async () => {
  await server.close()
  mailbox = await startMailbox()
  await start(mailbox.env)
  const ask = () =>
    send(server, '/team-invites', admin, { json: { email: 'ada@example.com', role: 'viewer' }, headers: { 'idempotency-key': 'once' } })
  const [first, second] = [await ask(), await ask()]
  expect(second.body).toEqual(first.body)
  expect(mailbox.mails).toHaveLength(1)
})

test('mails to one address, or of one workspace, are not sent without end; the links are given all the same', async () => {
  await server.close()
  mailbox = await startMailbox()
  await start(mailbox.env)
  const emailed: boolean[] = []
  for (let count = 0; count < MAX_MAILS_TO_ADDRESS + 1; count++) {
    const made = await invite(server, { email: count % 2 === 0 ? 'ada@example.com' : 'ADA@example.com', role: 'viewer' })
    emailed.push(made.emailed)
    await send(server, `/team-invites/${made.id}`, admin, { method: 'DELETE' })
  }
  expect(emailed).toEqual([...Array<boolean>(MAX_MAILS_TO_ADDRESS).fill(true), false])
  for (let count = MAX_MAILS_TO_ADDRESS; count < MAX_MAILS_OF_WORKSPACE; count++)
    expect((await invite(server, { email: `a${count}@example.com`, role: 'viewer' })).emailed).toBe(true)
  expect((await invite(server, { email: 'one-more@example.com', role: 'viewer' })).emailed).toBe(false)
  now += DAY_MS
  expect((await invite(server, { email: 'later@example.com', role: 'viewer' })).emailed).toBe(true)
})
