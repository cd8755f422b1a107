import { AppError } from '../../../shared/error.ts'
import { type SpawnedProcess, spawnProcess } from './spawn.ts'

/** A program with all that it is told; its name is for messages. */
export interface Command {
  name: string
  argv: readonly string[]
  env: Record<string, string>
}

export interface RunningCommand {
  process: SpawnedProcess
  /** Resolves when it has ended well. @throws AppError unavailable in its own words. */
  done: Promise<void>
}

export interface CommandOptions {
  stdin?: 'pipe'
  stdout?: 'pipe'
  cwd?: string
  signal?: AbortSignal
}

const MAX_WORDS = 4000
const SHOWN_WORDS = 600

/** Starts a program. What it complains about is kept, the last of it. */
export function startCommand(command: Command, { signal, ...rest }: CommandOptions = {}): RunningCommand {
  const process = spawnProcess(command.argv, {
    cwd: '/',
    ...rest,
    env: command.env,
    stderr: 'pipe',
    killSignal: 'SIGKILL',
    ...(signal && { signal }),
  })
  const done = outcome(command, process, signal)
  // Whoever reads its output hears of its end later.
  done.catch(() => {})
  return { process, done }
}

async function outcome({ name }: Command, process: SpawnedProcess, signal: AbortSignal | undefined): Promise<void> {
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

/** The output of a program; where it failed there is none, however well its stream ended. @throws as `done` does. */
export async function* wholeOutput({ process, done }: RunningCommand): AsyncGenerator<Uint8Array> {
  try {
    yield* process.stdout ?? []
  } catch (error) {
    await done
    throw error
  }
  await done
}
