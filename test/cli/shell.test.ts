import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { servicePathsOf } from '../../server/platform/paths.ts'
import { openPty } from '../../server/platform/process/pty.ts'
import { runProcess, type SpawnedProcess, spawnProcess } from '../../server/platform/process/spawn.ts'
import { call } from '../support/client.ts'
import { makeKey } from '../support/members.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { makeService, type TestService } from '../support/service.ts'
import { pidsWith } from '../support/shell.ts'
import { until } from '../support/until.ts'

const main = fileURLToPath(import.meta.resolve('../../cli/main.ts'))

let platform: Platform
let service: TestService
beforeAll(async () => {
  platform = await startPlatform()
  service = await makeService(platform, { name: 'web', envVars: [{ key: 'COLOUR', value: 'green' }] })
  await service.goLive('hello-js')
})
afterAll(() => platform.close())

const environment = (token = platform.adminToken) => ({
  PATH: '/usr/bin:/bin',
  HOME: '/nonexistent',
  TERM: 'xterm',
  CPCTL_URL: platform.url,
  CPCTL_TOKEN: token,
})
const piped = (args: string[], input = '') =>
  runProcess([process.execPath, main, 'shell', ...args], { env: environment(), input, timeoutMs: 40_000 })

interface Terminal {
  child: SpawnedProcess
  text(): string
  type(text: string | Uint8Array): Promise<void>
  resize(columns: number, rows: number): void
  prints(words: string | RegExp): Promise<void>
  /** Waits until stty says this of the terminal. */
  hasModes(expected: string): Promise<void>
  close(): void
}

let terminal: Terminal | undefined
afterEach(() => terminal?.close())

/** cpctl shell in a terminal of its own. */
async function open(args: string[] = ['web'], token?: string): Promise<Terminal & { before: string }> {
  const chunks: Uint8Array[] = []
  const pty = openPty({ columns: 90, rows: 33, onOutput: (bytes) => chunks.push(bytes.slice()) })
  const modes = async () => {
    const stty = spawnProcess(['stty', '-a'], { stdin: pty.descriptor, stdout: 'pipe', env: { PATH: '/usr/bin:/bin' } })
    return await new Response(stty.stdout).text()
  }
  const before = await modes()
  const argv = ['setsid', '--ctty', '--wait', process.execPath, main, 'shell', ...args]
  const child = spawnProcess(argv, { env: environment(token), stdin: pty.descriptor, stdout: pty.descriptor, stderr: 'stdout' })
  const text = () => Buffer.concat(chunks).toString('utf8')
  const opened: Terminal & { before: string } = {
    child,
    text,
    before,
    hasModes: async (expected) => void (await until(`the terminal is as ${expected}`, async () => (await modes()) === expected)),
    type: (words) => pty.write(typeof words === 'string' ? Buffer.from(words) : words),
    resize: pty.resize,
    prints: async (words) => {
      await until(`it prints ${words}`, () => (typeof words === 'string' ? text().includes(words) : words.test(text()))).catch(
        (error: unknown) => {
          throw new Error(`${error}; it printed ${JSON.stringify(text().slice(-500))}`)
        },
      )
    },
    close() {
      child.kill('SIGKILL')
      for (const pid of pidsWith(`${main} shell`)) process.kill(pid, 'SIGKILL')
      pty.close()
    },
  }
  terminal = opened
  return opened
}

/** The process of cpctl itself, below setsid. */
const cpctlPid = () => until('cpctl runs', () => pidsWith(`${process.execPath} ${main} shell`).find((pid) => isNode(pid)))
const isNode = (pid: number) => !readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('setsid')

describe('in a terminal', () => {
  test('a shell is as if it ran here: colours, size, Ctrl-C, exit code', async () => {
    const shell = await open()
    await shell.type('echo "<$COLOUR $TERM $(stty size | tr " " x)>"\r')
    await shell.prints('<green xterm 33x90>')
    shell.resize(70, 20)
    await until('the shell has the new size', async () => {
      await shell.type('echo "<$(stty size | tr " " x)>"\r')
      await Bun.sleep(300)
      return shell.text().includes('<20x70>')
    })
    await shell.type('sleep 7654320\r')
    await until('it sleeps', () => pidsWith('sleep 7654320').length > 0)
    await shell.type('\u0003')
    await shell.type('echo "<code $?>"\r')
    await shell.prints('<code 130>')
    await shell.type('exit 7\r')
    expect((await shell.child.exited).exitCode).toBe(7)
    await shell.hasModes(shell.before.replace('rows 33; columns 90', 'rows 20; columns 70'))
  })

  test('a program that fills the screen is passed through, and characters of every kind', async () => {
    const shell = await open(['web', '--', 'printf', '\\033[?1049h\\033[2J%s\\033[?1049l', 'žluťoučký 🐎'])
    expect((await shell.child.exited).exitCode).toBe(0)
    expect(shell.text()).toContain('\u001b[?1049h\u001b[2Jžluťoučký 🐎\u001b[?1049l')
  })

  test('10 MB of output arrive as they are', async () => {
    const shell = await open(['web', '--', 'stty -opost; seq 1 1500000'])
    expect((await shell.child.exited).exitCode).toBe(0)
    const expected = createHash('sha256')
    for (let n = 1; n <= 1_500_000; n++) expected.update(`${n}\n`)
    // This terminal shows a line end as CR LF.
    await until('all of it is read', () => shell.text().endsWith('1500000\n') || shell.text().endsWith('1500000\r\n'))
    expect(createHash('sha256').update(shell.text().replaceAll('\r\n', '\n')).digest('hex')).toBe(expected.digest('hex'))
  })

  test('1 MB that is pasted arrives as it is', async () => {
    const paste = Buffer.from(crypto.getRandomValues(new Uint8Array(65_536)))
      .toString('base64')
      .repeat(12)
    const shell = await open(['web', '--', `stty raw -echo; echo ready; head -c ${paste.length} > $HOME/pasted`])
    await shell.prints('ready')
    await shell.type(paste)
    expect((await shell.child.exited).exitCode).toBe(0)
    const pasted = join(servicePathsOf(platform.context.paths, service.id).home, 'pasted')
    expect(readFileSync(pasted, 'utf8') === paste).toBe(true)
    rmSync(pasted)
  })

  test('Enter ~ . leaves a program that hears nothing, and the terminal is as before', async () => {
    const shell = await open(['web', '--', 'stty raw; printf "\\033[?1049hdeaf"; exec sleep 7654321'])
    await shell.prints('deaf')
    await shell.type('\r~.')
    expect((await shell.child.exited).exitCode).toBe(1)
    await shell.prints('You left the shell')
    expect(shell.text()).toContain('\u001b[?1049l')
    await shell.hasModes(shell.before)
    await until('nothing of it is left', () => pidsWith('sleep 7654321').length === 0)
  })

  test.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s gives the terminal back', async (signal, code) => {
    const shell = await open(['web', '--', 'echo ready; sleep 7654322'])
    await shell.prints('ready')
    process.kill(await cpctlPid(), signal)
    expect((await shell.child.exited).exitCode).toBe(code)
    await shell.hasModes(shell.before)
    await until('nothing of it is left', () => pidsWith('sleep 7654322').length === 0)
  })

  test('being killed ends everything in the shell', async () => {
    const shell = await open(['web', '--', 'echo ready; setsid sleep 7654323 & sleep 7654323'])
    await shell.prints('ready')
    process.kill(await cpctlPid(), 'SIGKILL')
    await until('nothing of it is left', () => pidsWith('sleep 7654323').length === 0)
  })

  test('a shell that is ended from there says why, and the terminal is as before', async () => {
    const key = await makeKey(platform, 'developer')
    const shell = await open(['web', '--', 'echo ready; sleep 7654324'], key.secret)
    await shell.prints('ready')
    await call(`${platform.url}/v1/api-keys/${key.id}`, { method: 'DELETE', token: platform.adminToken })
    expect((await shell.child.exited).exitCode).toBe(1)
    await shell.prints('The shell was ended: The credential was revoked or lost its permission.')
    await shell.hasModes(shell.before)
  })
})

describe('from a pipe', () => {
  test('what comes through it is typed, its end is Ctrl-D, and the exit code is that of the last command', async () => {
    const { exitCode, stdout } = await piped(['web'], 'echo "<$COLOUR>"; (exit 5)\n')
    expect(stdout).toContain('<green>')
    expect(exitCode).toBe(5)
  })

  test('a command that reads nothing ends by itself, with its signal as a shell tells it', async () => {
    expect(await piped(['web', '--', 'printf', '%s-%s', 'a b', '$HOME'])).toMatchObject({ exitCode: 0, stdout: 'a b-$HOME' })
    expect((await piped(['web', '--', 'kill -KILL $$'])).exitCode).toBe(137)
  })

  test('a refusal says what to do next', async () => {
    const never = await makeService(platform, { name: 'never' })
    const { exitCode, stderr } = await piped([never.name])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('Nothing of this service is live yet. Deploy it, then open the shell.')
    expect((await piped(['nobody'])).stderr).toContain('cpctl services list')
    expect((await piped(['web', '--instance', `${service.id}-00000`])).stderr).toContain('has no instance')
  })
})

test('the compiled cpctl has a raw terminal as well', async () => {
  const cpctl = fileURLToPath(import.meta.resolve('../../dist/cpctl'))
  if (!existsSync(cpctl)) throw new Error('dist/cpctl is missing: run `npm run build` first.')
  const { exitCode, stdout } = await runProcess(
    ['script', '--quiet', '--return', '--command', `${cpctl} shell web -- 'stty raw -echo; printf ready; exit 4'`, '/dev/null'],
    { env: environment(), timeoutMs: 40_000 },
  )
  expect(stdout).toContain('ready')
  expect(exitCode).toBe(4)
})
