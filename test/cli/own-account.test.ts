import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Session } from '../../shared/account.ts'
import { AppError } from '../../shared/error.ts'
import { exampleMe, pageOf, workspaceId } from './examples.ts'
import { type Answers, type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl, type TerminalOptions, temporaryFolder } from './terminal.ts'

const userId = 'usr-0b1c2d3e4f5g6h7i8j9k'
const sessionId = 'ses-0b1c2d3e4f5g6h7i8j9k'
const password = 'secret word of ada'
const user = { id: userId, email: 'ada@example.com', name: 'Ada' }
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const recoveryCodes = ['0123-4567-89ab-cdef', 'ghjk-mnpq-rstv-wxyz']

let server: FakeServer
let folder: Awaited<ReturnType<typeof temporaryFolder>>
beforeEach(async () => {
  folder = await temporaryFolder()
})
afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
  await folder.remove()
})

const opened = (token: string) =>
  Response.json({ user, workspace: { id: workspaceId, name: 'Main' } }, { headers: { 'set-cookie': `cpd_session=${token}; Path=/` } })

/** An account with two-factor sign-in, unless the password is enough. */
const account = (isGuarded = true): Answers => ({
  login: ({ body }) => {
    const { password: given, otp } = body as { password: string; otp?: string }
    if (given !== password) throw new AppError('unauthorized', 'The e-mail or the password is wrong.')
    if (isGuarded && otp === undefined)
      throw new AppError('unauthorized', 'Send a code.', { details: [{ path: '/otp', message: 'is wanted' }] })
    if (isGuarded && otp !== '123456')
      throw new AppError('unauthorized', 'The code is wrong.', { details: [{ path: '/otp', message: 'wrong' }] })
    return opened('s3ss')
  },
  logout: () => undefined,
  me: () => exampleMe({ role: 'viewer', permissions: ['services.read'] }),
  getUser: () => user,
})

const run = (answers: Answers) => {
  server = startFakeServer(answers)
  return (argv: string[], options: TerminalOptions = {}) =>
    cpctl(argv, { ...options, env: { XDG_CONFIG_HOME: folder.path, CPCTL_URL: server.url, ...options.env } })
}
const stored = async () =>
  JSON.parse(await readFile(join(folder.path, 'cpctl', 'config.json'), 'utf8')).contexts[new URL(server.url).host]?.credential
const calls = () => server.received.map(({ id }) => id)
const login = (cli: ReturnType<typeof run>) => cli(['login', '--email', user.email, '--password-stdin'], { stdin: password })
const key = { env: { CPCTL_TOKEN: 'cpk_key' } }

describe('login to an account with two-factor sign-in', () => {
  const argv = ['login', '--email', user.email]

  test('asks for the code when the server wants it', async () => {
    const cli = run(account())
    const { exitCode, stderr } = await cli(argv, { typed: [password, ' 123456 '] })
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: 'Password: Code of your authenticator app, or a recovery code: ' })
    expect(calls().slice(0, 2)).toEqual(['login', 'login'])
  })

  test('takes the code of the command line, for scripts', async () => {
    const cli = run(account())
    const { exitCode } = await cli([...argv, '--password-stdin', '--otp', '123456'], { stdin: `${password}\n` })
    expect(exitCode).toBe(0)
    expect(calls().slice(0, 2)).toEqual(['login', 'me'])
  })

  test('says what to give where nobody can be asked', async () => {
    const cli = run(account())
    const { exitCode, stderr } = await cli([...argv, '--password-stdin'], { stdin: password })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('Give the code with --otp.')
  })

  test('tells a wrong code from a wrong password', async () => {
    const cli = run(account())
    const { exitCode, stderr } = await cli([...argv, '--password-stdin', '--otp', '000000'], { stdin: password })
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: 'Error: The code is wrong.\nThis was given with --otp.\n' })
  })
})

describe('sessions', () => {
  const session = (fields: Partial<Session>): Session => ({
    id: sessionId,
    kind: 'browser',
    address: '203.0.113.7',
    client: 'Firefox',
    createdAt: '2026-02-01T10:00:00.000Z',
    lastSeenAt: '2026-02-01T11:00:00.000Z',
    expiresAt: '2026-03-03T10:00:00.000Z',
    isCurrent: false,
    ...fields,
  })
  const answers: Answers = {
    ...account(false),
    listSessions: () => pageOf('session', [session({ isCurrent: true }), session({ kind: 'device', client: 'cpctl\u001b[31m on laptop' })]),
    endSession: () => undefined,
    endOtherSessions: () => undefined,
  }

  test('are listed with the session of the login, and nothing in them moves the terminal', async () => {
    const cli = run(answers)
    await login(cli)
    const { stdout, exitCode } = await cli(['sessions', 'list'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('browser (this one)')
    expect(stdout).toContain('cpctl on laptop')
    expect(stdout).not.toContain('\u001b')
    expect(server.received.at(-1)).toMatchObject({ id: 'listSessions' })
    expect(server.received.at(-1)?.headers.get('cookie')).toBe('cpd_session=s3ss; __Host-cpd_session=s3ss')
    expect(JSON.parse((await cli(['sessions', 'list', '--json'])).stdout)).toHaveLength(2)
  })

  test('are revoked one by one or all others at once, never both by mistake', async () => {
    const cli = run(answers)
    await login(cli)
    expect((await cli(['sessions', 'revoke', sessionId])).stdout).toBe(`The session ${sessionId} has ended.\n`)
    expect(server.received.at(-1)?.params).toEqual({ sessionId })
    expect((await cli(['sessions', 'revoke', '--all-others'])).stdout).toBe('Every other session has ended.\n')
    for (const argv of [[], [sessionId, '--all-others']]) expect((await cli(['sessions', 'revoke', ...argv])).exitCode).toBe(2)
  })

  test('are those of a person: with an API key one signs in for the command, and out again', async () => {
    const cli = run({ ...answers, ...account() })
    const { exitCode, stderr } = await cli(['sessions', 'list'], { ...key, typed: [user.email, password, '123456'] })
    expect(exitCode).toBe(0)
    expect(stderr).toContain('This is about your account, so sign in to ada@example.com.')
    expect(calls()).toEqual(['login', 'login', 'listSessions', 'logout'])
    expect(server.received.at(-2)?.headers.get('authorization')).toBeNull()
  })

  test('with the key of a login one signs in once for several commands, and logging out ends that session as well', async () => {
    const answers = {
      ...account(false),
      me: () => exampleMe({ role: 'admin', permissions: ['apikeys.manage'] }),
      createApiKey: () => ({
        id: 'key-0b1c2d3e4f5g6h7i8j9k',
        name: 'cpctl',
        role: 'admin',
        created_at: '2026-01-01T00:00:00.000Z',
        secret: 'cpk_x',
      }),
      revokeApiKey: () => undefined,
      listSessions: () => [],
    }
    const cli = run(answers)
    await login(cli)
    expect((await cli(['sessions', 'list'], { typed: [password] })).exitCode).toBe(0)
    expect((await cli(['sessions', 'list'])).exitCode).toBe(0)
    expect(calls().filter((id) => id === 'login')).toHaveLength(2)
    expect((await stored()).person.token).toBe('s3ss')
    await cli(['logout'])
    expect(calls().slice(-2)).toEqual(['logout', 'revokeApiKey'])
  })

  test('with an API key and no terminal the command says what to give', async () => {
    const cli = run(answers)
    const { exitCode, stderr } = await cli(['sessions', 'list'], key)
    expect(exitCode).toBe(2)
    expect(stderr).toContain('Give --email and --password-stdin, or log in with cpctl login.')
  })
})

describe('account', () => {
  const guarded: Answers = {
    ...account(false),
    getTwoFactor: () => ({
      enabled: true,
      enabledAt: '2026-02-01T10:00:00.000Z',
      recoveryCodesLeft: 7,
      requiredBy: [{ id: workspaceId, name: 'Main' }],
    }),
    changePassword: () => new Response(null, { status: 204, headers: { 'set-cookie': 'cpd_session=n3w; Path=/' } }),
    beginTwoFactor: () => ({ secret, otpauthUrl: `otpauth://totp/cpd:ada?secret=${secret}` }),
    confirmTwoFactor: () => ({ recoveryCodes }),
    renewRecoveryCodes: () => ({ recoveryCodes }),
    removeTwoFactor: () => undefined,
  }

  test('shows how the account is protected', async () => {
    const cli = run(guarded)
    await login(cli)
    const { stdout } = await cli(['account', 'show'])
    expect(stdout).toContain('Two-factor:  on since 2026-02-01T10:00:00.000Z, 7 recovery codes left\n')
    expect(stdout).toContain('Required by: Main\n')
    expect(JSON.parse((await cli(['account', 'show', '--json'])).stdout)).toMatchObject({ user, twoFactor: { enabled: true } })
  })

  test('changes the password, and goes on with the new session', async () => {
    const cli = run(guarded)
    await login(cli)
    const next = 'a third horse battery'
    expect((await cli(['account', 'password'], { typed: [password, next, next] })).exitCode).toBe(0)
    expect(server.received.at(-1)?.body).toEqual({ currentPassword: password, newPassword: next })
    expect((await stored()).token).toBe('n3w')
    await cli(['account', 'password', '--password-stdin'], { stdin: `${password}\n${next}\n` })
    expect(server.received.at(-1)?.body).toEqual({ currentPassword: password, newPassword: next })
    const mistyped = await cli(['account', 'password'], { typed: [password, next, `${next}!`] })
    expect(mistyped).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('nothing was changed') })
  })

  test('with an API key the session that a change opened is ended, too', async () => {
    const cli = run(guarded)
    await cli(['account', 'password', '--email', user.email, '--password-stdin'], { ...key, stdin: `${password}\na third horse battery\n` })
    expect(calls()).toEqual(['login', 'changePassword', 'logout'])
    expect(server.received.at(-1)?.headers.get('cookie')).toBe('cpd_session=n3w; __Host-cpd_session=n3w')
  })

  test('sets up two-factor sign-in with a QR code and the secret as text, and prints the recovery codes alone', async () => {
    const cli = run(guarded)
    await login(cli)
    const { stdout, stderr } = await cli(['account', 'two-factor', 'enable'], { typed: [password, '123456'], isTty: true })
    expect(stdout).toBe(`${recoveryCodes.join('\n')}\n`)
    expect(stderr).toContain(secret)
    expect(stderr).toMatch(/[▀▄█]{10}/)
    expect(server.received.at(-1)?.body).toEqual({ code: '123456' })
    const piped = await cli(['account', 'two-factor', 'enable', '--password-stdin', '--otp', '123456', '--json'], { stdin: password })
    expect(JSON.parse(piped.stdout)).toEqual({ recoveryCodes })
    expect(piped.stderr).not.toMatch(/[▀▄█]/)
  })

  test('switches it off and renews the codes with password and code', async () => {
    const cli = run(guarded)
    await login(cli)
    await cli(['account', 'two-factor', 'recovery-codes'], { typed: [password, '123456'] })
    expect(server.received.at(-1)).toMatchObject({ id: 'renewRecoveryCodes', body: { password, otp: '123456' } })
    const { stdout, stderr } = await cli(['account', 'two-factor', 'disable', '--password-stdin', '--otp', '123456'], { stdin: password })
    expect(stdout).toBe('Two-factor sign-in is off: the password is enough.\n')
    expect(stderr).toContain('Main lets in only members with a second factor, so not you')
    expect(server.received.at(-2)).toMatchObject({ id: 'removeTwoFactor', body: { password, otp: '123456' } })
  })

  test('with an API key the code that signed in is not taken for the next step', async () => {
    const cli = run({ ...guarded, ...account() })
    const { stderr } = await cli(['account', 'two-factor', 'disable', '--email', user.email], {
      ...key,
      typed: [password, '123456', '654321'],
    })
    expect(stderr).toContain('The next code of the app')
    expect(server.received.find(({ id }) => id === 'removeTwoFactor')).toMatchObject({ body: { otp: '654321' } })
  })
})

describe('team', () => {
  const member = {
    id: userId,
    userId,
    name: 'Ada',
    email: user.email,
    role: 'developer',
    scope: null,
    twoFactorEnabled: true,
    status: 'active',
    createdAt: '2026-02-01T10:00:00.000Z',
  }
  const url = 'https://cp.example.com/reset-password?token=t0ken'
  const answers: Answers = {
    listTeamMembers: () => pageOf('teamMember', [member]),
    resetMemberPassword: () => ({ url, expiresAt: '2026-02-01T13:00:00.000Z', emailed: false }),
    resetMemberTwoFactor: () => undefined,
  }

  test('reset-password prints the link alone', async () => {
    const cli = run(answers)
    const { stdout, stderr } = await cli(['team', 'reset-password', 'ADA@example.com'], key)
    expect(stdout).toBe(`${url}\n`)
    expect(stderr).toBe('Give this link to ada@example.com: it sets a new password, once, until 2026-02-01T13:00:00.000Z.\n')
    expect(server.received.at(-1)?.params).toEqual({ memberId: userId })
  })

  test('reset-password says that a mail is on its way where the link is not ours to see', async () => {
    const cli = run({ ...answers, resetMemberPassword: () => ({ expiresAt: '2026-02-01T13:00:00.000Z', emailed: true }) })
    const { stdout, stderr } = await cli(['team', 'reset-password', userId], key)
    expect({ stdout, stderr }).toEqual({ stdout: '', stderr: `A mail with the link is on its way to ${userId}.\n` })
  })

  test('reset-two-factor asks before it takes the second factor away', async () => {
    const cli = run(answers)
    expect((await cli(['team', 'reset-two-factor', user.email], { ...key, typed: ['bob@example.com'] })).exitCode).toBe(2)
    expect((await cli(['team', 'reset-two-factor', user.email], key)).exitCode).toBe(2)
    expect(calls()).not.toContain('resetMemberTwoFactor')
    const { stdout } = await cli(['team', 'reset-two-factor', user.email, '--yes'], key)
    expect(stdout).toBe('ada@example.com signs in with the password alone now.\n')
  })
})

describe('mail of what fails', () => {
  const own = (emailEnabled: boolean) => ({ ownerId: workspaceId, emailEnabled })

  test('is ended for the workspace in use', async () => {
    const cli = run({ ...account(false), updateOwnNotifications: () => own(false) })
    await login(cli)
    expect(await cli(['account', 'notifications', 'off'])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('You get no mail'),
    })
    expect(server.received.at(-1)?.body).toEqual(own(false))
  })

  test('is shown as the API tells it', async () => {
    const cli = run({ ...account(false), getOwnNotifications: () => own(true) })
    await login(cli)
    expect(JSON.parse((await cli(['account', 'notifications', 'show', '--json'])).stdout)).toEqual(own(true))
  })
})
