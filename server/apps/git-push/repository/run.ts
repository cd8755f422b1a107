import { AppError } from '../../../../shared/error.ts'
import { type SpawnedProcess, spawnProcess } from '../../../platform/process/spawn.ts'
import { isRoot } from '../../../platform/service-folders.ts'
import { type GitCall, gitArguments, gitEnvironment, inSandbox, type Repository } from './command.ts'

export interface RunningGit {
  process: SpawnedProcess
  ended: Promise<{ exitCode: number | null; complaint: string }>
}

const MAX_WORDS = 4000
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
const LONGEST_MS = 300_000

export function startGit(repository: Repository, call: GitCall, signal: AbortSignal): RunningGit {
  const env = gitEnvironment(repository, call)
  return start(gitArguments(repository, call), { env, cwd: isRoot ? '/' : repository.folder, signal })
}

function start(
  argv: readonly string[],
  { env, cwd, signal }: { env: Record<string, string>; cwd: string; signal: AbortSignal },
): RunningGit {
  const child = spawnProcess(argv, { cwd, env, stdin: 'pipe', stdout: 'pipe', stderr: 'pipe', detached: true })
  const kill = () => endGroup(child.pid)
  signal.addEventListener('abort', kill, { once: true })
  if (signal.aborted) kill()
  const ended = Promise.all([lastWords(child.stderr), child.exited]).then(([complaint, { exitCode }]) => ({ exitCode, complaint }))
  void ended.catch(() => {}).finally(() => signal.removeEventListener('abort', kill))
  return { process: child, ended }
}

/** Git removes what it has not finished when it is asked to end. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGTERM')
  } catch {}
}

async function lastWords(stream: SpawnedProcess['stderr']): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream ?? []) text = (text + decoder.decode(chunk, { stream: true })).slice(-MAX_WORDS)
  return text.trim()
}

export interface GitAnswer {
  exitCode: number | null
  output: Buffer
  complaint: string
}

export async function askGit(
  repository: Repository,
  call: GitCall,
  { input = '', signal }: { input?: string; signal: AbortSignal },
): Promise<GitAnswer> {
  return await answerOf((limit) => startGit(repository, call, limit), { input, signal })
}

export async function runGit(
  repository: Repository,
  args: readonly string[],
  { input = '', signal }: { input?: string; signal: AbortSignal },
): Promise<string> {
  const { exitCode, output, complaint } = await askGit(repository, { args }, { input, signal })
  if (exitCode !== 0) throw new AppError('unavailable', `git ${args[0]} failed: ${complaint || `it ended with ${exitCode}`}`)
  return output.toString('utf8')
}

export async function runBeside(
  repository: Repository,
  argv: readonly string[],
  { input = '', signal }: { input?: string; signal: AbortSignal },
): Promise<void> {
  const options = { env: gitEnvironment(repository), cwd: isRoot ? '/' : repository.folder }
  const whole = inSandbox(repository, argv)
  const { exitCode, complaint } = await answerOf((limit) => start(whole, { ...options, signal: limit }), { input, signal })
  if (exitCode !== 0) throw new AppError('unavailable', `${argv[0]} failed in the repository: ${complaint}`)
}

async function answerOf(
  begin: (limit: AbortSignal) => RunningGit,
  { input, signal }: { input: string; signal: AbortSignal },
): Promise<GitAnswer> {
  const { process: child, ended } = begin(AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]))
  const [output, { exitCode, complaint }] = await Promise.all([bytesOf(child.stdout), ended, sayTo(child.stdin, input)])
  signal.throwIfAborted()
  return { exitCode, output, complaint }
}

async function sayTo(stdin: SpawnedProcess['stdin'], input: string): Promise<void> {
  try {
    if (input !== '') await stdin?.write(input)
    await stdin?.end()
  } catch {
    // A program that ended before it read all of it says why by its code.
  }
}

export async function bytesOf(stream: SpawnedProcess['stdout'], most = MAX_ANSWER_BYTES): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let total = 0
  for await (const chunk of stream ?? []) {
    if (total < most) parts.push(chunk)
    total += chunk.length
  }
  return Buffer.concat(parts).subarray(0, most)
}
