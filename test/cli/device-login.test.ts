import { readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { STALE_MS } from '../../cli/session/renewal-lock.ts'
import { AppError } from '../../shared/error.ts'
import { exampleMe } from './examples.ts'
import { type Answers, type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl, type TerminalOptions, temporaryFolder, testTime } from './terminal.ts'

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

const grant = {
  device_code: 'device-code',
  user_code: 'BCDF-GHJK',
  verification_uri: 'https://cp.example.com/device',
  verification_uri_complete: 'https://cp.example.com/device?code=BCDF-GHJK',
  expires_in: 600,
  interval: 0,
}
const tokens = (number = 1, expiresIn = 3600) => ({
  access_token: `cpd_at_${number}`,
  token_type: 'Bearer',
  expires_in: expiresIn,
  refresh_token: `cpd_rt_${number}`,
})
const refusal = (error: string) => Response.json({ message: error, code: 'bad_request', id: 'req-1', error }, { status: 400 })

/** Confirmed at the second poll. */
function answersOf(second: () => unknown = () => tokens()): Answers {
  let polls = 0
  return {
    createDeviceGrant: () => grant,
    redeemDeviceGrant: () => (++polls < 2 ? refusal('authorization_pending') : second()),
    me: () => exampleMe(),
    revokeDeviceToken: () => undefined,
  }
}

const start = (answers: Answers) => {
  server = startFakeServer(answers)
  return (argv: string[], options: TerminalOptions = {}) =>
    cpctl(argv, { ...options, env: { XDG_CONFIG_HOME: folder.path, ...options.env } })
}
const configPath = () => join(folder.path, 'cpctl', 'config.json')
const stored = async () => JSON.parse(await readFile(configPath(), 'utf8')).contexts[new URL(server.url).host]?.credential
const login = () => ['login', '--url', server.url]
const kept = (expiresAt: number) => ({
  kind: 'device',
  email: 'ada@example.com',
  token: 'cpd_at_1',
  refreshToken: 'cpd_rt_1',
  expiresAt,
  lifetimeMs: 3600_000,
})

/** A login from before, with a token that ends then. */
async function loggedIn(cli: ReturnType<typeof start>, expiresAt: number): Promise<void> {
  await cli([...login(), '--device'])
  await writeFile(configPath(), JSON.stringify({ current: server.url, servers: { [server.url]: kept(expiresAt) } }))
}

describe('login on a terminal', () => {
  test('shows the page and the code, and keeps the tokens when it is confirmed', async () => {
    const cli = start(answersOf())
    const { exitCode, stdout, stderr, browsed } = await cli(login(), { typed: [] })
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `Logged in to ${server.url} as ada@example.com (admin of Main).\n` })
    expect(stderr).toContain('the code BCDF-GHJK')
    expect(stderr).toContain(grant.verification_uri_complete)
    expect(browsed).toEqual([grant.verification_uri_complete])
    expect(await stored()).toEqual(kept(testTime + 3600_000))
    expect((await stat(configPath())).mode & 0o777).toBe(0o600)
    const asked = server.received.find(({ id }) => id === 'createDeviceGrant')
    expect(asked?.body).toEqual({ client_id: 'cpctl', client_name: 'cpctl on laptop' })
    const { stdout: shown } = await cli(['whoami'])
    expect(shown).toContain('Credential: login confirmed in a browser\n')
    expect(server.received.at(-1)?.headers.get('authorization')).toBe('Bearer cpd_at_1')
  })

  test('ends when it is refused or runs out, and keeps nothing', async () => {
    for (const [error, message] of [
      ['access_denied', 'refused in the browser'],
      ['expired_token', 'not confirmed in time'],
      ['invalid_grant', 'no longer'],
    ] as const) {
      const cli = start(answersOf(() => refusal(error)))
      const { exitCode, stderr } = await cli(login(), { typed: [] })
      expect(exitCode).toBe(1)
      expect(stderr).toContain(message)
      expect(stderr).toContain('cpctl login')
      await expect(readFile(configPath())).rejects.toThrow('ENOENT')
      await server.stop()
    }
  })

  test('ends at Ctrl-C', async () => {
    const controller = new AbortController()
    const cli = start({
      ...answersOf(),
      redeemDeviceGrant: () => {
        controller.abort()
        return refusal('authorization_pending')
      },
    })
    const { exitCode, stdout } = await cli(login(), { typed: [], interrupted: controller.signal })
    expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: '' })
  })

  test('waits on while the server cannot be reached', async () => {
    let polls = 0
    const cli = start({
      ...answersOf(),
      redeemDeviceGrant: () => {
        if (++polls === 1) throw new AppError('unavailable', 'Back in a moment.')
        return tokens()
      },
    })
    expect((await cli(login(), { typed: [] })).exitCode).toBe(0)
  })

  test('asks for e-mail and password with --email, or of a server that knows no devices', async () => {
    const old: Answers = {
      createDeviceGrant: () => {
        throw new AppError('not_found', 'There is nothing at this path.')
      },
      login: () => {
        throw new AppError('unauthorized', 'The e-mail or the password is wrong.')
      },
    }
    const cli = start(old)
    await cli(login(), { typed: ['ada@example.com', 'secret'] })
    await cli([...login(), '--email', 'ada@example.com'], { typed: ['secret'] })
    expect(server.received.map(({ id }) => id)).toEqual(['createDeviceGrant', 'login', 'login'])
    const { exitCode, stderr } = await cli([...login(), '--device'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('--email')
  })

  test('does not begin without a terminal unless it is told to', async () => {
    const cli = start(answersOf())
    const { exitCode, stderr } = await cli(login())
    expect(exitCode).toBe(2)
    expect(stderr).toContain('--device')
    expect((await cli([...login(), '--device'])).exitCode).toBe(0)
  })
})

describe('the tokens', () => {
  test('are renewed before they end', async () => {
    const cli = start({ ...answersOf(), refreshDeviceToken: () => tokens(2) })
    await loggedIn(cli, testTime + 60_000)
    expect((await cli(['whoami'])).exitCode).toBe(0)
    expect(server.received.at(-1)?.headers.get('authorization')).toBe('Bearer cpd_at_2')
    expect(await stored()).toMatchObject({ token: 'cpd_at_2', refreshToken: 'cpd_rt_2', expiresAt: testTime + 3600_000 })
  })

  test('are renewed once by many commands at the same time', async () => {
    let renewals = 0
    const cli = start({
      ...answersOf(),
      refreshDeviceToken: async () => {
        renewals += 1
        await Bun.sleep(100)
        return tokens(1 + renewals)
      },
    })
    await loggedIn(cli, testTime - 1)
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => cli(['whoami'])))
    expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0, 0])
    expect(renewals).toBe(1)
    await expect(stat(`${configPath()}.lock`)).rejects.toThrow('ENOENT')
  })

  test('are renewed though a process that was doing it has been killed', async () => {
    const cli = start({ ...answersOf(), refreshDeviceToken: () => tokens(2) })
    await loggedIn(cli, testTime - 1)
    const lock = `${configPath()}.lock`
    await writeFile(lock, '')
    const before = (Date.now() - STALE_MS - 1000) / 1000
    await utimes(lock, before, before)
    expect((await cli(['whoami'])).exitCode).toBe(0)
  })

  test('do as long as they last while the server cannot renew them', async () => {
    const cli = start({
      ...answersOf(),
      refreshDeviceToken: () => {
        throw new AppError('unavailable', 'Back in a moment.')
      },
    })
    await loggedIn(cli, testTime + 60_000)
    expect((await cli(['whoami'])).exitCode).toBe(0)
    await loggedIn(cli, testTime)
    expect((await cli(['whoami'])).stderr).toContain('Back in a moment.')
  })

  test('that are good no longer ask for a new login', async () => {
    const cli = start({ ...answersOf(), refreshDeviceToken: () => refusal('invalid_grant') })
    await loggedIn(cli, testTime - 1)
    const { exitCode, stderr } = await cli(['whoami'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('has ended')
    expect(stderr).toContain('cpctl login')
  })

  test('are revoked by logout, also when they have run out', async () => {
    const cli = start(answersOf())
    await loggedIn(cli, testTime - 1)
    const { exitCode, stdout } = await cli(['logout'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `Logged out of ${server.url}.\n` })
    expect(server.received.at(-1)).toMatchObject({ id: 'revokeDeviceToken', body: { token: 'cpd_rt_1' } })
    expect(await stored()).toBeUndefined()
  })
})
