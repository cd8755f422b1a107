import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'vitest'
import { type Paths, pathsOf } from '../../server/platform/paths.ts'
import { type RunResult, runProcess, type SpawnedProcess, spawnProcess } from '../../server/platform/process/spawn.ts'
import { call, type Reply } from './client.ts'
import { freePorts } from './free-ports.ts'
import { leftoversOf, processesOf } from './leftovers.ts'
import { until } from './until.ts'

const READY_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 40_000

export interface CompiledOptions {
  /** Settings of `cpd`, beside those that keep tests apart from the machine. */
  env?: Record<string, string>
  /** Use these instead of the ones in dist/. */
  executables?: Executables
  /** The whole environment in place of that of the tests. */
  baseEnv?: Record<string, string>
  cwd?: string
  /** The API's and the ingress's addresses, where somebody else has to know them before. */
  apiPort?: number
  ingressPort?: number
}

export interface Executables {
  cpd: string
  cpctl: string
}

export interface CommandOptions {
  cwd?: string
  env?: Record<string, string>
}

/** The compiled server with its ingress, on free ports and a data directory of its own. */
export interface Compiled {
  apiUrl: string
  ingressPort: number
  token: string
  paths: Paths
  /** The process of `cpd serve` that runs now. */
  pid(): number
  cpctl(args: readonly string[], options?: CommandOptions): Promise<RunResult>
  /** Arguments and environment with which `cpctl` is started against this server. */
  cpctlCommand(args: readonly string[]): { argv: string[]; env: Record<string, string> }
  api<T>(path: string, options?: { method?: string; json?: unknown }): Promise<Reply<T>>
  /** Asks the ingress for a service by its slug. */
  appFetch(slug: string, path?: string, init?: RequestInit): Promise<Response>
  /** SIGKILL to `cpd serve` alone. */
  kill9(): Promise<void>
  /** SIGTERM to `cpd serve` alone, awaited. */
  terminate(): Promise<void>
  /** Starts `cpd serve` again on the same data. */
  start(): Promise<void>
  /** Everything that `cpd serve` has written since it was first started. */
  output(): string
  /** Ends everything and asserts that nothing is left of it. */
  stop(): Promise<void>
}

const builtExecutables: Executables = { cpd: resolve('dist/cpd'), cpctl: resolve('dist/cpctl') }

export async function startCompiled(options: CompiledOptions = {}): Promise<Compiled> {
  const { cpd, cpctl } = options.executables ?? builtExecutables
  const home = mkdtempSync(join(tmpdir(), 'cpd-e2e-'))
  const dataDir = join(home, 'data')
  const [freeApiPort = 0, freePort = 0] = freePorts(2)
  const apiPort = options.apiPort ?? freeApiPort
  const ingressPort = options.ingressPort ?? freePort
  const token = `static-token-${crypto.randomUUID()}`
  const baseEnv = options.baseEnv ?? ownEnv()
  const settings = { SERVICE_API_TOKEN: token, CP_ADMIN_PASSWORD: 'correct horse battery', CP_RATE_LIMIT: '0', ...options.env }
  const flags = ['--data', dataDir, '--listen', `127.0.0.1:${apiPort}`, '--ingress', `127.0.0.1:${ingressPort}`]
  const apiUrl = `http://127.0.0.1:${apiPort}`
  const outputFile = join(home, 'serve.log')
  const output = () => (existsSync(outputFile) ? readFileSync(outputFile, 'utf8') : '')
  let server: SpawnedProcess | undefined

  async function start(): Promise<void> {
    const before = output().length
    const cwd = options.cwd ?? home
    let hasEnded = false
    server = spawnProcess([cpd, 'serve', ...flags], {
      cwd,
      env: { ...baseEnv, ...settings },
      stdout: { appendTo: outputFile },
      stderr: 'stdout',
      onExit: () => {
        hasEnded = true
      },
    })
    const isReady = () => {
      const text = output().slice(before)
      if (hasEnded) throw new Error(`cpd serve ended before it was ready: ${text}`)
      return / ready: /.test(text)
    }
    await until(`cpd serve is ready:\n${output().slice(before)}`, isReady, READY_TIMEOUT_MS)
  }

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    server?.kill(signal)
    const exit = await server?.exited
    server = undefined
    return exit?.exitCode ?? null
  }

  const cpctlCommand = (args: readonly string[]) => ({
    argv: [cpctl, ...args],
    env: { ...baseEnv, HOME: home, CPCTL_URL: apiUrl, CPCTL_TOKEN: token, NO_COLOR: '1' },
  })

  async function stop(): Promise<void> {
    try {
      if (server !== undefined) expect(await end('SIGTERM')).toBe(0)
      const stopped = await runProcess([cpd, 'stop', '--data', dataDir], { env: baseEnv, cwd: home, timeoutMs: STOP_TIMEOUT_MS })
      expect(stopped).toMatchObject({ exitCode: 0, stderr: '' })
      expect(stopped.stdout).toMatch(/^Stopped \d+ instances and the ingress\.\n$/)
      await until('nothing is left', () => leftoversOf(dataDir).length === 0, 10_000).catch(() => undefined)
      expect(leftoversOf(dataDir)).toEqual([])
    } finally {
      // Whatever a failure left: these carry our own data directory.
      for (const pid of processesOf(dataDir)) killQuietly(pid)
      rmSync(home, { recursive: true, force: true })
    }
  }

  const compiled: Compiled = {
    apiUrl,
    ingressPort,
    token,
    paths: pathsOf(dataDir),
    pid: () => server?.pid ?? 0,
    cpctlCommand,
    cpctl(args, { cwd = home, env = {} } = {}) {
      const command = cpctlCommand(args)
      return runProcess(command.argv, { cwd, env: { ...command.env, ...env }, timeoutMs: 600_000 })
    },
    api: (path, request = {}) => call(`${apiUrl}/v1${path}`, { token, ...request }),
    appFetch: (slug, path = '/', init = {}) =>
      fetch(`http://127.0.0.1:${ingressPort}${path}`, {
        ...init,
        headers: { ...init.headers, host: `${slug}.localhost` },
        redirect: 'manual',
      }),
    kill9: async () => void (await end('SIGKILL')),
    terminate: async () => void expect(await end('SIGTERM')).toBe(0),
    start,
    output,
    stop,
  }
  await start().catch(async (error) => {
    await stop().catch(() => undefined)
    throw error
  })
  return compiled
}

/** The environment of the tests without what is meant for another `cpd` or `cpctl`. */
export function ownEnv(): Record<string, string> {
  const isMeantForUs = (name: string) => !/^(CP_|CPCTL_|SERVICE_API_TOKEN$|CONTROL_PLANE_API_TOKEN$|npm_)/.test(name)
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => isMeantForUs(entry[0]) && entry[1] !== undefined),
  )
}

/** SIGKILL to a process that may have ended by itself. */
export function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has ended by itself.
  }
}
