import { closeSync, constants, openSync } from 'node:fs'
import { AppError, messageOf } from '../../../shared/error.ts'

export type OutputTarget = number | { appendTo: string } | 'pipe' | 'ignore'

export interface SpawnOptions {
  cwd?: string
  /** The child's whole environment: nothing of ours is inherited. Absent means empty. */
  env?: Record<string, string>
  stdin?: number | 'pipe' | 'ignore'
  stdout?: OutputTarget
  stderr?: OutputTarget | 'stdout'
  /** Descriptors of ours that the child gets as 3, 4 and so on; no other one is open in it. */
  inherit?: readonly number[]
  detached?: boolean
  cgroup?: string
  signal?: AbortSignal
  killSignal?: NodeJS.Signals
  onExit?: (exit: ProcessExit) => void
}

export interface ProcessExit {
  exitCode: number | null
  signal: string | null
}

export interface SpawnedProcess {
  readonly pid: number
  readonly exited: Promise<ProcessExit>
  readonly stdin: Bun.FileSink | undefined
  readonly stdout: ReadableStream<Uint8Array> | undefined
  readonly stderr: ReadableStream<Uint8Array> | undefined
  kill(signal?: NodeJS.Signals): void
  unref(): void
}

/** Starts a process from an argument array, never through a shell. @throws AppError `unavailable` when it cannot be started. */
export function spawnProcess(argv: readonly string[], options: SpawnOptions = {}): SpawnedProcess {
  const opened: number[] = []
  const open = (target: OutputTarget) => (typeof target === 'object' ? openForAppend(target.appendTo, opened) : target)
  try {
    const stdout = open(options.stdout ?? 'ignore')
    const wantedStderr = options.stderr ?? 'ignore'
    const stderr = wantedStderr === 'stdout' ? stdout : open(wantedStderr)
    return wrap(startChild(argv, options, [options.stdin ?? 'ignore', stdout, stderr]))
  } finally {
    for (const descriptor of opened) closeSync(descriptor)
  }
}

const OUTPUT_FILE_MODE = 0o600

const APPEND_FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW

function openForAppend(path: string, opened: number[]): number {
  try {
    const descriptor = openSync(path, APPEND_FLAGS, OUTPUT_FILE_MODE)
    opened.push(descriptor)
    return descriptor
  } catch (cause) {
    const reason = messageOf(cause)
    throw new AppError('unavailable', `Could not open the output file: ${reason}`, { cause })
  }
}

type Stdio = [number | 'pipe' | 'ignore', number | 'pipe' | 'ignore', number | 'pipe' | 'ignore']
type Child = ReturnType<typeof Bun.spawn<Stdio[0], Stdio[1], Stdio[2]>>

function startChild(argv: readonly string[], options: SpawnOptions, [stdin, stdout, stderr]: Stdio): Child {
  const { onExit } = options
  try {
    return Bun.spawn([...argv], {
      env: options.env ?? {},
      stdio: [stdin, stdout, stderr, ...(options.inherit ?? [])],
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.detached === undefined ? {} : { detached: options.detached }),
      ...(options.cgroup === undefined ? {} : { cgroup: options.cgroup }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      ...(options.killSignal === undefined ? {} : { killSignal: options.killSignal }),
      ...(onExit === undefined ? {} : { onExit: (child) => onExit(exitOf(child)) }),
    })
  } catch (cause) {
    const reason = messageOf(cause)
    throw new AppError('unavailable', `Could not start ${argv[0] ?? 'a process'}: ${reason}`, { cause })
  }
}

function wrap(child: Child): SpawnedProcess {
  return {
    pid: child.pid,
    exited: child.exited.then(() => exitOf(child)),
    stdin: typeof child.stdin === 'object' ? child.stdin : undefined,
    stdout: typeof child.stdout === 'object' ? child.stdout : undefined,
    stderr: typeof child.stderr === 'object' ? child.stderr : undefined,
    kill: (signal) => child.kill(signal),
    unref: () => child.unref(),
  }
}

function exitOf(child: { exitCode: number | null; signalCode: string | number | null }): ProcessExit {
  return child.signalCode === null ? { exitCode: child.exitCode, signal: null } : { exitCode: null, signal: String(child.signalCode) }
}

export interface RunOptions {
  cwd?: string
  env?: Record<string, string>
  input?: string | Uint8Array
  inherit?: readonly number[]
  signal?: AbortSignal
  timeoutMs?: number
  maxOutputBytes?: number
}

export interface RunResult extends ProcessExit {
  stdout: string
  stderr: string
}

export const DEFAULT_TOOL_TIMEOUT_MS = 60_000
export const DEFAULT_TOOL_OUTPUT_BYTES = 4 * 1024 * 1024

/** Runs a short tool to its end; a non-zero exit is a result. @throws AppError `unavailable` when it cannot be started or is late. */
export async function runProcess(argv: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  options.signal?.throwIfAborted()
  const timeoutMs = options.timeoutMs ?? DEFAULT_TOOL_TIMEOUT_MS
  const timeout = AbortSignal.timeout(timeoutMs)
  const stop = options.signal === undefined ? timeout : AbortSignal.any([options.signal, timeout])
  const child = spawnProcess(argv, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.inherit === undefined ? {} : { inherit: options.inherit }),
    stdin: options.input === undefined ? 'ignore' : 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
    detached: true,
  })
  const kill = () => killGroup(child.pid)
  stop.addEventListener('abort', kill, { once: true })
  const maxBytes = options.maxOutputBytes ?? DEFAULT_TOOL_OUTPUT_BYTES
  try {
    const written = writeInput(child, options.input)
    const read = Promise.all([readText(child.stdout, maxBytes, stop), readText(child.stderr, maxBytes, stop)])
    const [exit, [stdout, stderr]] = await Promise.all([child.exited, read, written])
    options.signal?.throwIfAborted()
    if (timeout.aborted) throw new AppError('unavailable', `${argv[0]} did not finish within ${timeoutMs / 1000} s and was stopped`)
    return { ...exit, stdout, stderr }
  } finally {
    stop.removeEventListener('abort', kill)
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {}
}

async function writeInput(child: SpawnedProcess, input: string | Uint8Array | undefined): Promise<void> {
  if (child.stdin === undefined || input === undefined) return
  try {
    await child.stdin.write(input)
    await child.stdin.end()
  } catch (error) {
    // A tool may end before it has read everything; its exit code tells whether that was a failure.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error
  }
}

async function readText(stream: ReadableStream<Uint8Array> | undefined, maxBytes: number, stop: AbortSignal): Promise<string> {
  if (stream === undefined) return ''
  const reader = stream.getReader()
  // A grandchild in a session of its own may hold the pipe open for ever.
  const cancel = () => void reader.cancel()
  stop.addEventListener('abort', cancel, { once: true })
  const decoder = new TextDecoder()
  let text = ''
  let keptBytes = 0
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const kept = part.value.subarray(0, Math.max(0, maxBytes - keptBytes))
    keptBytes += kept.length
    text += decoder.decode(kept, { stream: true })
  }
  stop.removeEventListener('abort', cancel)
  return text + decoder.decode()
}

/** Puts another program into this process, which keeps its pid and lets go of its locks. @throws AppError `unavailable` when it cannot be run. */
export function replaceProcess([program = '', ...args]: readonly string[], env: Record<string, string>): never {
  if (process.execve === undefined) throw new AppError('internal', 'This runtime cannot put another program into its process.')
  try {
    return process.execve(program, [program, ...args], env)
  } catch (cause) {
    throw new AppError('unavailable', `${program} cannot be run: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}
