import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RESET_MS } from '../../../../server/identity/resets/store.ts'
import type { PasswordResetLink } from '../../../../shared/account.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { call, cookieOf } from '../../../support/client.ts'
import { type Mailbox, startMailbox } from '../../../support/mailbox.ts'
import { addMember, defaultWorkspaceId, joinWorkspace, makeKey, memberPassword, registerTenant } from '../../../support/members.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'
import { enableTwoFactor, fromPage, nextTotp } from '../../../support/two-factor.ts'
import { until } from '../../../support/until.ts'

const newPassword = 'a third horse battery'
let mailbox: Mailbox
/** One that sends mail, and one that does not. */
let server: TestServer
let silent: TestServer
let workspaceId: string
let now = Date.now()

beforeAll(async () => {
  mailbox = await startMailbox()
  const env = { CP_TRUSTED_PROXIES: '127.0.0.1', CP_REGISTRATION: 'open', CP_PUBLIC_URL: 'https://cp.example.com' }
  server = await startTestServer({ env: { ...env, ...mailbox.env }, parts: { now: () => now } })
  silent = await startTestServer({ env })
  workspaceId = await defaultWorkspaceId(server)
})
afterAll(async () => {
  await Promise.all([server.close(), silent.close()])
  await mailbox.close()
})

let addresses = 0
const fresh = () => ({ 'x-forwarded-for': `203.0.113.${++addresses}` })
const member = (role = 'developer') => addMember(server, workspaceId, role)
const login = (email: string, password: string, otp?: string) =>
  call(`${server.url}/v1/auth/login`, { json: { email, password, ...(otp === undefined ? {} : { otp }) }, headers: fresh() })
const ask = (email: string, at = server, headers = fresh()) => call(`${at.url}/v1/auth/password-reset`, { json: { email }, headers })
const confirm = (token: string, password = newPassword) =>
  call(`${server.url}/v1/auth/password-reset/confirm`, { json: { token, password }, headers: fresh() })
const me = async (cookie: string) => (await call(`${server.url}/v1/auth/me`, { cookie })).status

/** The token of the link that was mailed as the first, second or third one. */
async function mailedToken(email: string, count = 1): Promise<string> {
  const mails = () => mailbox.mails.filter(({ recipients }) => recipients.includes(email))
  await until('the mail has come', () => mails().length >= count)
  const { parsed } = mails()[count - 1] ?? (await mailbox.newestTo(email))
  return /https:\/\/cp\.example\.com\/reset-password\?token=(\S+)/.exec(parsed.text ?? '')?.[1] ?? ''
}

describe('who has lost the password', () => {
  test('gets a link by mail, which sets a new one once and ends all sessions', async () => {
    const { email, cookie } = await member()
    expect((await ask(email.toUpperCase())).status).toBe(202)
    const token = await mailedToken(email)
    expect(await me(cookie)).toBe(200)
    expect((await confirm(token)).status).toBe(204)
    expect(await me(cookie)).toBe(401)
    expectError(await login(email, memberPassword), 'unauthorized')
    expect((await login(email, newPassword)).status).toBe(200)
    expectError(await confirm(token, 'a fourth horse battery'), 'not_found')
  })

  test('is answered the same whether there is an account or not, and no mail goes anywhere else', async () => {
    const { email } = await member()
    const before = mailbox.mails.length
    const [known, unknown] = [await ask(email), await ask('nobody@example.com')]
    expect({ status: known.status, body: known.body }).toEqual({ status: unknown.status, body: unknown.body })
    await mailbox.newestTo(email)
    expect(mailbox.mails.slice(before).map(({ recipients }) => recipients)).toEqual([[email]])
  })

  test('is told whom to ask where the server sends no mail, and no link is made', async () => {
    const reply = await ask('admin@localhost', silent)
    expect(reply.status).toBe(202)
    expect(reply.body.message).toMatch(/Ask an administrator/)
    expect(silent.db.query('SELECT * FROM password_resets').all()).toEqual([])
  })

  test('asks five times, for whatever account, and then waits', async () => {
    const headers = fresh()
    for (let n = 0; n < 5; n++) expect((await ask(`nobody${n}@example.com`, silent, headers)).status).toBe(202)
    const refused = await ask('nobody9@example.com', silent, headers)
    expect(expectError(refused, 'rate_limited').message).toMatch(/links/)
    const { email } = await member()
    for (let n = 0; n < 5; n++) expect((await ask(email)).status).toBe(202)
    expectError(await ask(email), 'rate_limited')
  })

  test('has an hour, and older links die with the first that is used', async () => {
    const { email } = await member()
    await ask(email)
    const first = await mailedToken(email)
    now += RESET_MS
    expectError(await confirm(first), 'not_found')
    await ask(email)
    const second = await mailedToken(email, 2)
    await ask(email)
    const third = await mailedToken(email, 3)
    expect(new Set([first, second, third]).size).toBe(3)
    expect((await confirm(second)).status).toBe(204)
    expectError(await confirm(third), 'not_found')
  })

  test('uses a link once, also when it is used many times at once', async () => {
    const { email } = await member()
    await ask(email)
    const token = await mailedToken(email)
    const replies = await Promise.all(Array.from({ length: 4 }, (_, n) => confirm(token, `horse battery number ${n}`)))
    expect(replies.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404])
  })

  test('keeps the second factor', async () => {
    const { email, cookie } = await member()
    const { secret } = await enableTwoFactor(server, { cookie, password: memberPassword }, () => now)
    await ask(email)
    await confirm(await mailedToken(email))
    expectError(await login(email, newPassword), 'unauthorized')
    expect((await login(email, newPassword, nextTotp(secret, now))).status).toBe(200)
  })

  test('has nothing in the database that a reader could use', async () => {
    const { email } = await member()
    await ask(email)
    const token = await mailedToken(email)
    expect(token).toMatch(/^[\w-]{43}$/)
    expect(JSON.stringify(server.db.query('SELECT * FROM password_resets').all())).not.toContain(token)
    expect(server.logged.join('')).not.toContain(token)
  })
})

const resetPassword = (memberId: string, token: string, at = server) =>
  call<PasswordResetLink>(`${at.url}/v1/team-members/${memberId}/password-reset`, { method: 'POST', token })
const resetTwoFactor = (memberId: string, token: string, at = server) =>
  call(`${at.url}/v1/team-members/${memberId}/two-factor`, { method: 'DELETE', token })
const tokenIn = ({ url = '' }: PasswordResetLink): string => new URL(url).searchParams.get('token') ?? ''

describe('an administrator', () => {
  test('gets a link for a member of this workspace alone, and the member is told', async () => {
    const { userId, email } = await member()
    const { secret } = await makeKey(server, 'admin')
    const reply = await resetPassword(userId, secret)
    expect(reply.status).toBe(201)
    expect(reply.body).toMatchObject({ emailed: true })
    expect((await mailbox.newestTo(email)).parsed.text).toContain('An administrator')
    expect((await confirm(tokenIn(reply.body))).status).toBe(204)
    expect((await login(email, newPassword)).status).toBe(200)
  })

  test('gets none of an account that is in other workspaces too: it goes to the mailbox, or nowhere', async () => {
    const { userId, email } = await member()
    const other = await registerTenant(server, 'other@example.com')
    joinWorkspace(server, { userId, workspaceId: other.workspaceId, role: 'viewer' })
    const reply = await resetPassword(userId, other.token)
    expect(reply.status).toBe(201)
    expect(reply.body).toEqual({ expiresAt: expect.any(String), emailed: true })
    expect(await mailedToken(email)).not.toBe('')
    expectError(await resetTwoFactor(userId, other.token), 'conflict')

    const tenant = await registerTenant(silent, 'other@example.com')
    const shared = await addMember(silent, await defaultWorkspaceId(silent), 'viewer')
    joinWorkspace(silent, { userId: shared.userId, workspaceId: tenant.workspaceId, role: 'viewer' })
    const refused = expectError(await resetPassword(shared.userId, tenant.token, silent), 'conflict')
    expect(refused.message).toMatch(/operator/)
    expect(silent.db.query('SELECT * FROM password_resets').all()).toEqual([])
  })

  test('gets none of their own account: a stolen session would be enough', async () => {
    const admin = await addMember(silent, await defaultWorkspaceId(silent), 'admin')
    const own = (path: string, method: string) => fromPage(silent, `/team-members/${admin.userId}${path}`, admin.cookie, { method })
    expectError(await own('/password-reset', 'POST'), 'conflict')
    expectError(await own('/two-factor', 'DELETE'), 'conflict')
  })

  test('helps nobody who may do more, nor anybody who is no member here', async () => {
    const admin = await member('admin')
    const stranger = await registerTenant(server, 'stranger@example.com')
    server.db
      .query(
        'INSERT INTO roles (id, workspace_id, name, name_key, description, permissions, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, 0, 0)',
      )
      .run('rol-00000000000000000001', workspaceId, 'helper', 'HELPER', '', JSON.stringify(['team.manage', 'team.read']))
    const helper = await member('helper')
    const helped = (memberId: string, path: string, method: string) =>
      fromPage(server, `/team-members/${memberId}${path}`, helper.cookie, { method })
    for (const [path, method] of [
      ['/password-reset', 'POST'],
      ['/two-factor', 'DELETE'],
    ] as const) {
      expectError(await helped(admin.userId, path, method), 'forbidden')
      expectError(await helped(stranger.userId, path, method), 'not_found')
      expectError(await call(`${server.url}/v1/team-members/${admin.userId}${path}`, { method, token: stranger.token }), 'not_found')
    }
  })

  test('switches the second factor of a member off, and their sessions end', async () => {
    const { userId, email, cookie } = await member()
    await enableTwoFactor(server, { cookie, password: memberPassword }, () => now)
    const { secret } = await makeKey(server, 'admin')
    expect((await resetTwoFactor(userId, secret)).status).toBe(204)
    expect(await me(cookie)).toBe(401)
    expect((await login(email, memberPassword)).status).toBe(200)
    expectError(await resetTwoFactor(userId, secret), 'conflict')
  })
})

describe('the operator, with the static token', () => {
  test('gets the link of every member of the default workspace, and switches second factors off, wherever else they are', async () => {
    const ada = await addMember(silent, await defaultWorkspaceId(silent), 'admin')
    const tenant = await registerTenant(silent, 'elsewhere@example.com')
    joinWorkspace(silent, { userId: ada.userId, workspaceId: tenant.workspaceId, role: 'admin' })
    await enableTwoFactor(silent, { cookie: ada.cookie, password: memberPassword })
    const link = await resetPassword(ada.userId, silent.adminToken, silent)
    expect(link.body).toMatchObject({ url: expect.stringMatching(/^https:\/\/cp\.example\.com\/reset-password\?token=/), emailed: false })
    expect((await resetTwoFactor(ada.userId, silent.adminToken, silent)).status).toBe(204)
    const json = { token: tokenIn(link.body), password: newPassword }
    expect((await call(`${silent.url}/v1/auth/password-reset/confirm`, { json })).status).toBe(204)
    const reply = await call(`${silent.url}/v1/auth/login`, { json: { email: ada.email, password: newPassword } })
    expect(cookieOf(reply)).toMatch(/^__Host-cpd_session=/)
  })

  test('and of an account that is in no workspace any more', async () => {
    const tenant = await registerTenant(silent, 'nowhere@example.com')
    silent.db.query('DELETE FROM members WHERE user_id = ?').run(tenant.userId)
    const { secret } = await makeKey(silent, 'admin')
    expectError(await resetPassword(tenant.userId, secret, silent), 'not_found')
    expect((await resetPassword(tenant.userId, silent.adminToken, silent)).status).toBe(201)
  })

  test('and of nobody who is in other workspaces alone', async () => {
    const tenant = await registerTenant(silent, 'not-here@example.com')
    expectError(await resetPassword(tenant.userId, silent.adminToken, silent), 'not_found')
  })
})
