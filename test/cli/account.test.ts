import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AppError } from '../../shared/error.ts'
import { exampleMe, keyId, workspaceId } from './examples.ts'
import { type Answers, type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl, type TerminalOptions, temporaryFolder } from './terminal.ts'

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

const signedIn = {
  user: { id: 'usr-0b1c2d3e4f5g6h7i8j9k', email: 'ada@example.com', name: 'Ada' },
  workspace: { id: workspaceId, name: 'Main' },
}
const key = { id: keyId, name: 'cpctl@laptop', role: 'admin', created_at: '2026-02-01T12:00:00.000Z', secret: 'cpk_made' }

const account: Answers = {
  login: ({ body }) => {
    if ((body as { password: string }).password !== 'secret word') throw new AppError('unauthorized', 'Wrong e-mail or password.')
    return Response.json(signedIn, { headers: { 'set-cookie': 'cpd_session=s3ss; Path=/; HttpOnly' } })
  },
  me: () => exampleMe(),
  createApiKey: () => key,
  logout: () => undefined,
  revokeApiKey: () => undefined,
}

const run = (answers: Answers = account) => {
  server = startFakeServer(answers)
  return (argv: string[], options: TerminalOptions = {}) =>
    cpctl(argv, { ...options, env: { XDG_CONFIG_HOME: folder.path, ...options.env } })
}
const configPath = () => join(folder.path, 'cpctl', 'config.json')
const host = () => new URL(server.url).host
const config = async () => JSON.parse(await readFile(configPath(), 'utf8'))

describe('login', () => {
  test('a password becomes an API key of this machine, kept where only its owner can read', async () => {
    const cli = run()
    const { exitCode, stdout, stderr } = await cli(['login', '--url', server.url, '--email', 'ada@example.com'], { typed: ['secret word'] })
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `Logged in to ${server.url} as ada@example.com (admin of Main).\n` })
    expect(stderr).toBe('Password: ')
    expect(await config()).toEqual({
      current: host(),
      contexts: { [host()]: { url: server.url, credential: { kind: 'api_key', token: 'cpk_made', keyId, email: 'ada@example.com' } } },
    })
    expect((await stat(configPath())).mode & 0o777).toBe(0o600)
    expect((await stat(join(folder.path, 'cpctl'))).mode & 0o777).toBe(0o700)
    const made = server.received.find(({ id }) => id === 'createApiKey')
    expect(made?.body).toEqual({ name: 'cpctl@laptop', role: 'admin' })
    expect(made?.headers.get('cookie')).toBe('cpd_session=s3ss; __Host-cpd_session=s3ss')
    expect(made?.headers.get('origin')).toBe(server.url)
    expect(server.received.map(({ id }) => id)).toEqual(['login', 'me', 'createApiKey', 'logout'])
  })

  test('a user who may not make keys keeps the session', async () => {
    const cli = run({ ...account, me: () => exampleMe({ role: 'viewer', permissions: ['services.read'] }) })
    await cli(['login', '--url', server.url, '--email', 'ada@example.com', '--password-stdin'], { stdin: 'secret word\n' })
    expect((await config()).contexts[host()]?.credential).toEqual({
      kind: 'session',
      token: 's3ss',
      email: 'ada@example.com',
    })
    const { stdout } = await cli(['whoami'])
    expect(stdout).toContain('Credential: session\n')
    expect(server.received.at(-1)?.headers.get('cookie')).toBe('cpd_session=s3ss; __Host-cpd_session=s3ss')
  })

  test('a second login on one machine revokes the key of the first', async () => {
    let made = 0
    const cli = run({ ...account, createApiKey: () => ({ ...key, secret: `cpk_${++made}` }) })
    const again = ['login', '--url', server.url, '--email', 'ada@example.com', '--password-stdin']
    await cli(again, { stdin: 'secret word' })
    await cli(again, { stdin: 'secret word' })
    const revoked = server.received.filter(({ id }) => id === 'revokeApiKey')
    expect(revoked.map(({ params, headers }) => [params.keyId, headers.get('authorization')])).toEqual([[keyId, 'Bearer cpk_1']])
    expect((await config()).contexts[host()]?.credential.token).toBe('cpk_2')
    await cli(['login', '--url', server.url, '--token', 'cpk_2'])
    expect(server.received.filter(({ id }) => id === 'revokeApiKey')).toHaveLength(1)
  })

  test('a token from standard input is checked and kept', async () => {
    const cli = run()
    const { exitCode } = await cli(['login', '--url', server.url, '--token-stdin'], { stdin: 'cpk_mine\n' })
    expect(exitCode).toBe(0)
    expect((await config()).contexts[host()]?.credential).toEqual({ kind: 'token', token: 'cpk_mine' })
    await cli(['whoami'])
    expect(server.received.at(-1)?.headers.get('authorization')).toBe('Bearer cpk_mine')
  })

  test('a wrong password stores nothing and says what to check', async () => {
    const cli = run()
    const { exitCode, stderr } = await cli(['login', '--url', server.url, '--email', 'a@b', '--password-stdin'], { stdin: 'no' })
    expect(exitCode).toBe(1)
    expect(stderr).toBe('Error: Wrong e-mail or password.\n')
    await expect(stat(configPath())).rejects.toThrow('ENOENT')
  })

  test('a secret is never read in the open from a terminal', async () => {
    const cli = run()
    const { exitCode, stderr } = await cli(['login', '--url', server.url, '--email', 'a@b', '--password-stdin'], { typed: ['no'] })
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: 'Error: --password-stdin reads from a pipe, and standard input is a terminal.\nLeave out --password-stdin to be asked.\n',
    })
  })

  test('a login that would travel in clear is warned about', async () => {
    const cli = run()
    const { stderr } = await cli(['login', '--url', 'http://cpd.invalid', '--email', 'a@b', '--password-stdin'], { stdin: 'x' })
    expect(stderr).toContain('Warning: the login travels to http://cpd.invalid unencrypted.')
  })

  test('nobody is asked where there is no terminal', async () => {
    const cli = run()
    const { exitCode, stderr } = await cli(['login', '--url', server.url])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('Give --device, --email and --password-stdin, or --token-stdin.')
  })
})

describe('whoami and logout', () => {
  test('whoami names server, account, role and credential', async () => {
    const cli = run()
    await cli(['login', '--url', server.url, '--email', 'ada@example.com'], { typed: ['secret word'] })
    const { stdout } = await cli(['whoami'])
    expect(stdout).toBe(
      [
        `Server:     ${server.url}`,
        `Context:    ${host()}`,
        'Name:       Ada',
        'E-mail:     ada@example.com',
        `Workspace:  Main (${workspaceId})`,
        'Role:       admin',
        `Credential: API key of this machine (${keyId})`,
        '',
      ].join('\n'),
    )
    const given = await cli(['whoami'], { env: { CPCTL_TOKEN: 'cpk_env' } })
    expect(given.stdout).toContain('Credential: token from CPCTL_TOKEN\n')
    expect(server.received.at(-1)?.headers.get('authorization')).toBe('Bearer cpk_env')
  })

  test('logout revokes the key that login made and forgets it', async () => {
    const cli = run()
    await cli(['login', '--url', server.url, '--email', 'ada@example.com'], { typed: ['secret word'] })
    const { stdout } = await cli(['logout'])
    expect(stdout).toBe(`Logged out of ${server.url}.\n`)
    expect(server.received.at(-1)).toMatchObject({ id: 'revokeApiKey', params: { keyId } })
    expect(await config()).toEqual({ contexts: {} })
  })

  test('a key that could not be revoked is named', async () => {
    const cli = run({
      ...account,
      revokeApiKey: () => {
        throw new AppError('unavailable', 'Starting.')
      },
    })
    await cli(['login', '--url', server.url, '--email', 'ada@example.com'], { typed: ['secret word'] })
    const { exitCode, stderr } = await cli(['logout'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain(`cpctl keys revoke ${keyId}`)
    expect(await config()).toEqual({ contexts: {} })
  })

  test('logout says that a token of the environment goes on', async () => {
    const cli = run()
    const env = { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_env' }
    await cli(['login', '--email', 'ada@example.com'], { env, typed: ['secret word'] })
    expect((await cli(['logout'], { env })).stderr).toContain('CPCTL_TOKEN is set')
    const piped = await cli(['logout', '--json'], { env })
    expect(piped).toMatchObject({ exitCode: 0, stdout: '', stderr: '' })
  })

  test('a workspace is chosen by name', async () => {
    const owner = { id: workspaceId, name: 'Main', email: 'ada@example.com', type: 'team' as const }
    const cli = run({ ...account, listOwners: () => [{ owner, cursor: 'c' }] })
    await cli(['whoami'], { env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_x', CPCTL_WORKSPACE: 'Main' } })
    expect(server.received.at(-1)?.headers.get('x-workspace-id')).toBe(workspaceId)
    const unknown = await cli(['whoami', '--workspace', 'Other'], { env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_x' } })
    expect(unknown).toMatchObject({
      exitCode: 1,
      stderr: 'Error: There is no workspace named Other.\ncpctl workspaces list shows yours.\n',
    })
  })
})
