/** PostgreSQL's own tools, run by us outside of the database's sandbox, as a user who owns nothing else. */
import { join } from 'node:path'
import { AppError } from '../../../../shared/error.ts'
import { type SpawnedProcess, spawnProcess } from '../../../platform/process/spawn.ts'
import { SYSTEM_PATH } from '../../../platform/process/system-tools.ts'
import { isRoot } from '../../../platform/service-folders.ts'

export interface BackupSource {
  programs: string
  host: string
  port: number
  user: string
  password: string
  /** User id that the tools run as, where we may choose. */
  uid: number
}

export interface Tool {
  programs: string
  uid: number
  name: string
  args: readonly string[]
  env?: Record<string, string>
}

/** They end with us, and gain nothing by what a server that was taken over tells them. */
export function toolCommand({ programs, uid, name, args }: Omit<Tool, 'env'>): string[] {
  const user = isRoot ? [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--inh-caps=-all', '--bounding-set=-all'] : []
  const program = name.startsWith('/') ? name : join(programs, 'bin', name)
  return ['/usr/bin/setpriv', ...user, '--no-new-privs', '--pdeathsig=KILL', '--', program, ...args]
}

const toolEnv = { PATH: SYSTEM_PATH, LC_ALL: 'C', PGCONNECT_TIMEOUT: '10', HOME: '/nonexistent' }

export const connectionArgs = ({ host, port, user }: BackupSource): string[] => [
  ...['--host', host, '--port', String(port), '--username', user],
  '--no-password',
]

export interface RunningTool {
  process: SpawnedProcess
  /** Resolves when it has ended well. @throws AppError unavailable in its own words. */
  done: Promise<void>
}

const MAX_WORDS = 4000
const SHOWN_WORDS = 600

/** Starts a tool. What it complains about is kept, the last of it. */
export function startTool(tool: Tool, options: { stdin?: 'pipe'; stdout?: 'pipe'; cwd?: string; signal?: AbortSignal } = {}): RunningTool {
  const { signal, ...rest } = options
  const process = spawnProcess(toolCommand(tool), {
    cwd: '/',
    ...rest,
    env: { ...toolEnv, ...tool.env },
    stderr: 'pipe',
    killSignal: 'SIGKILL',
    ...(signal && { signal }),
  })
  const done = outcome(tool, process, signal)
  // Whoever reads its output hears of its end later.
  done.catch(() => {})
  return { process, done }
}

async function outcome({ name }: Tool, process: SpawnedProcess, signal: AbortSignal | undefined): Promise<void> {
  const [words, { exitCode, signal: killedBy }] = await Promise.all([lastWords(process.stderr), process.exited])
  if (exitCode === 0) return
  signal?.throwIfAborted()
  const said = words.trim().slice(-SHOWN_WORDS) || `it ended with ${killedBy ?? `code ${exitCode}`}`
  throw new AppError('unavailable', `${name} failed: ${said}`)
}

async function lastWords(stream: SpawnedProcess['stderr']): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream ?? []) text = (text + decoder.decode(chunk, { stream: true })).slice(-MAX_WORDS)
  return text
}
