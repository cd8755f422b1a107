import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createService } from '../support/apps.ts'
import { call, cookieOf } from '../support/client.ts'
import { addMember, defaultWorkspaceId, memberPassword } from '../support/members.ts'
import { startTestServer, type TestServer, testAdmin } from '../support/server.ts'
import { cpctl, type TerminalOptions, temporaryFolder } from './terminal.ts'

let server: TestServer
let workspaceId: string
let folder: Awaited<ReturnType<typeof temporaryFolder>>

beforeEach(async () => {
  server = await startTestServer()
  workspaceId = await defaultWorkspaceId(server)
  folder = await temporaryFolder()
})
afterEach(async () => {
  await server.close()
  await folder.remove()
})

const config = () => join(folder.path, 'cpctl', 'config.json')

/** Has the command line be logged in with a session, as `cpctl login` leaves it. */
async function loggedIn(cookie: string, email: string): Promise<void> {
  await mkdir(join(folder.path, 'cpctl'), { recursive: true })
  const token = cookie.slice(cookie.indexOf('=') + 1)
  await writeFile(config(), JSON.stringify({ current: server.url, servers: { [server.url]: { kind: 'session', token, email } } }))
}

async function asAdmin(): Promise<void> {
  await loggedIn(cookieOf(await call(`${server.url}/v1/auth/login`, { json: testAdmin })), testAdmin.email)
}

const keyOfAdmin = async (): Promise<string> =>
  (await call<{ secret: string }>(`${server.url}/v1/api-keys`, { token: server.adminToken, json: { name: 'ci' } })).body.secret

const run = (argv: string[], options: TerminalOptions = {}) =>
  cpctl(argv, { columns: 200, ...options, env: { XDG_CONFIG_HOME: folder.path, ...options.env } })
const done = async (...argv: string[]) => {
  const outcome = await run(argv)
  expect(outcome).toMatchObject({ exitCode: 0 })
  return outcome
}

describe('team', () => {
  test('members are listed, given roles and scopes, and removed', async () => {
    await asAdmin()
    await createService(server, { name: 'web' })
    const { email, userId } = await addMember(server, workspaceId, 'developer')
    expect((await done('team', 'list')).stdout).toMatch(new RegExp(`${email} +developer +developer +everything +off`))
    expect((await done('team', 'role', email.toUpperCase(), 'viewer')).stdout).toBe(`${email} has the role viewer now.\n`)
    expect((await done('team', 'scope', userId, 'web')).stdout).toBe(`${email} may be at web now, as viewer.\n`)
    expect((await done('team', 'list')).stdout).toMatch(new RegExp(`${email} +developer +viewer +web +off`))
    expect((await done('team', 'scope', email, '--all')).stdout).toBe(`${email} may be at the whole workspace now, as viewer.\n`)
    const listed = JSON.parse((await done('team', 'list', '--json')).stdout)
    expect(listed[0].teamMember).toMatchObject({ email, role: 'viewer', scope: null })
    expect((await run(['team', 'remove', email], { typed: ['somebody else'] })).exitCode).toBe(2)
    expect(await run(['team', 'remove', email], { typed: [email] })).toMatchObject({ exitCode: 0, stdout: `Removed ${email}.\n` })
    expect(await run(['team', 'remove', email, '--yes'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('cpctl team list shows them'),
    })
  })

  test('what is refused says what to do', async () => {
    await asAdmin()
    const last = await run(['team', 'role', testAdmin.email, 'viewer'])
    expect(last).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('last administrator') })
    const { email } = await addMember(server, workspaceId, 'developer')
    expect(await run(['team', 'role', email, 'veiwer'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('Did you mean viewer?'),
    })
    expect(await run(['invites', 'create', 'ada@example.com', '--role', 'veiwer'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('Did you mean viewer?'),
    })
    const asKey = { env: { CPCTL_URL: server.url, CPCTL_TOKEN: await keyOfAdmin() } }
    expect(await run(['team', 'leave', '--yes'], asKey)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('cpctl login --device'),
    })
    expect(await run(['team', 'scope', email])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--all') })
    expect(await run(['team', 'remove', email])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--yes') })
  })

  test('a member leaves', async () => {
    const { cookie, email } = await addMember(server, workspaceId, 'developer')
    await loggedIn(cookie, email)
    expect(await run(['team', 'leave'], { typed: ['Default'] })).toMatchObject({ exitCode: 0, stdout: 'You left Default.\n' })
    expect(await run(['workspaces', 'list'])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Ask for an invite') })
  })
})

describe('invites', () => {
  test('the link alone goes to standard output, and somebody new accepts with it', async () => {
    await asAdmin()
    const { stdout, stderr } = await done('invites', 'create', 'ada@example.com', '--role', 'developer')
    expect(stdout).toMatch(/^http:\/\/localhost:8400\/invite\?token=[\w-]{43}\n$/)
    expect(stderr).toContain('No mail was sent')
    expect((await done('invites', 'list')).stdout).toMatch(/ada@example\.com +developer +everything/)
    await folder.remove()
    folder = await temporaryFolder()
    const token = stdout.trim().slice(stdout.indexOf('token=') + 'token='.length)
    const link = `${server.url}/invite?token=${token}`
    const accepted = await run(['invites', 'accept', link, '--name', 'Ada', '--password-stdin'], { stdin: `${memberPassword}\n` })
    expect(accepted).toMatchObject({
      exitCode: 0,
      stdout: `You are in Default now, and logged in to ${server.url} as ada@example.com.\n`,
    })
    expect((await done('whoami')).stdout).toContain('developer')
    expect(await run(['invites', 'accept', link])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no such invite') })
  })

  test('who is logged in accepts with the token, and works there', async () => {
    const made = await call<{ id: string }>(`${server.url}/v1/workspaces`, { json: { name: 'Second' }, token: server.adminToken })
    const { cookie, email } = await addMember(server, made.body.id, 'viewer')
    const invited = await call<{ token: string }>(`${server.url}/v1/team-invites`, {
      json: { email, role: 'developer' },
      token: server.adminToken,
    })
    await loggedIn(cookie, email)
    const { stdout, stderr } = await done('invites', 'accept', invited.body.token)
    expect({ stdout, stderr }).toEqual({
      stdout: 'You are in Default now.\n',
      stderr: `To act in it: cpctl workspaces use ${workspaceId}\n`,
    })
    await done('workspaces', 'use', 'Default')
    expect((await done('whoami')).stdout).toContain('developer')
  })

  test('who is in no workspace any more accepts as well, logged in or with the password', async () => {
    const { cookie, email } = await addMember(server, workspaceId, 'developer')
    await loggedIn(cookie, email)
    const invite = async () => {
      const token = server.adminToken
      return (await call<{ token: string }>(`${server.url}/v1/team-invites`, { token, json: { email, role: 'viewer' } })).body.token
    }
    await done('team', 'leave', '--yes')
    expect((await done('invites', 'accept', await invite())).stdout).toBe('You are in Default now.\n')
    await done('team', 'leave', '--yes')
    await done('logout')
    const accepting = ['--url', server.url, 'invites', 'accept', await invite()]
    const { stdout, stderr } = await run(accepting, { typed: ['Somebody', memberPassword] })
    expect(stderr).toContain('or yours if you have an account here')
    expect(stdout).toBe(`You are in Default now, and logged in to ${server.url} as ${email}.\n`)
  })

  test('an invite is taken back by its address', async () => {
    await asAdmin()
    await createService(server, { name: 'web' })
    await done('invites', 'create', 'ada@example.com', '--role', 'viewer', '--service', 'web')
    const [{ teamInvite }] = JSON.parse((await done('invites', 'list', '--json')).stdout)
    expect(teamInvite.scope.serviceIds).toHaveLength(1)
    expect((await done('invites', 'delete', 'ADA@example.com')).stdout).toBe('Took back the invite of ada@example.com.\n')
    expect((await done('invites', 'list')).stderr).toContain('No invites are open')
    expect((await run(['invites', 'delete', 'ada@example.com'])).exitCode).toBe(1)
  })

  test('what is no link is refused before it is sent', async () => {
    await asAdmin()
    for (const link of ['https://cp.example.com/invite', 'https://cp.example.com/other?token=x', 'a b', ''])
      expect((await run(['invites', 'accept', link])).exitCode).toBe(2)
    const env = { CPCTL_URL: server.url, CPCTL_TOKEN: server.adminToken }
    expect(await run(['invites', 'accept', 'token'], { env })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('cpctl login'),
    })
  })
})

describe('workspaces', () => {
  test('one is made, used from then on, renamed, and deleted', async () => {
    await asAdmin()
    expect((await done('workspaces', 'create', 'Second')).stderr).toContain('cpctl workspaces use tea-')
    expect((await done('workspaces', 'list')).stdout).toMatch(/\* +Default/)
    expect((await done('workspaces', 'use', 'Second')).stdout).toBe(`Commands to ${server.url} act in Second now.\n`)
    expect((await done('workspaces', 'list')).stdout).toMatch(/\* +Second/)
    expect((await done('workspaces', 'rename', 'Third')).stdout).toBe('Second is named Third now.\n')
    expect((await done('workspaces', 'show')).stdout).toMatch(/Name: +Third\n[\s\S]*Two-factor: +up to each member/)
    expect((await done('--workspace', 'Default', 'workspaces', 'show')).stdout).toMatch(/Name: +Default/)
    expect((await run(['workspaces', 'delete', 'Third'], { typed: ['third'] })).exitCode).toBe(2)
    expect((await run(['workspaces', 'delete', 'Third'], { typed: ['Third'] })).stdout).toContain('Deleted Third.')
    expect(JSON.parse(await readFile(config(), 'utf8')).contexts[new URL(server.url).host]?.credential.workspaceId).toBeUndefined()
    expect((await done('workspaces', 'show')).stdout).toMatch(/Name: +Default/)
  })

  test('one that is gone can be left for another', async () => {
    await asAdmin()
    await done('workspaces', 'create', 'Second')
    await done('workspaces', 'use', 'Second')
    server.db.query("DELETE FROM workspaces WHERE name = 'Second'").run()
    expect((await run(['services', 'list'])).exitCode).toBe(1)
    expect((await done('workspaces', 'list')).stdout).toContain('Default')
    await done('workspaces', 'use', 'Default')
    expect((await run(['services', 'list'])).exitCode).toBe(0)
  })

  test('names that are shared or unknown, and keys, are explained', async () => {
    await asAdmin()
    await done('workspaces', 'create', 'Twin')
    await done('workspaces', 'create', 'Twin')
    expect(await run(['workspaces', 'use', 'Twin'])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Give the id') })
    expect(await run(['services', 'list', '--workspace', 'Twin'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('Give the id'),
    })
    await done('workspaces', 'create', 'One, two')
    expect((await done('workspaces', 'show', '--workspace', 'One, two')).stdout).toContain('One, two')
    expect(await run(['workspaces', 'use', 'None'])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('workspaces list') })
    const env = { CPCTL_URL: server.url, CPCTL_TOKEN: server.adminToken }
    expect(await run(['workspaces', 'use', 'Default'], { env })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('cpctl login'),
    })
    expect(await run(['workspaces', 'delete', 'Default', '--yes'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('first start'),
    })
    expect(await run(['workspaces', 'require-two-factor', 'on'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('lock you'),
    })
    expect((await done('workspaces', 'require-two-factor', 'off')).stdout).toContain('without a second factor, too')
    expect((await run(['workspaces', 'require-two-factor', 'maybe'])).exitCode).toBe(2)
  })
})
