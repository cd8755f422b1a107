import { join } from 'node:path'
import { AppError } from '../../../shared/error.ts'
import { removeTree } from '../files/tree/remove.ts'
import { isCompiled } from '../process/self.ts'
import { type SpawnedProcess, spawnProcess } from '../process/spawn.ts'
import { createPlaces } from '../work/places.ts'
import type { ExtractOptions } from './archive.ts'
import type { ExtractOutcome, ExtractTask } from './child.ts'
import type { ExtractResult } from './target.ts'

const program = isCompiled ? [process.execPath, 'extract'] : [process.execPath, join(import.meta.dirname, 'child.ts')]

const places = createPlaces(4)

/** The process ends with us. @throws what `extractArchive` throws, and AppError unavailable when that process was killed. */
export async function extractIsolated({ signal, ...task }: ExtractOptions): Promise<ExtractResult> {
  return await places.run(async () => {
    try {
      signal?.throwIfAborted()
      return resultOf(await carryOut(task, signal))
    } catch (error) {
      await removeTree(task.into)
      throw error
    }
  })
}

async function carryOut(task: ExtractTask, signal: AbortSignal | undefined): Promise<ExtractOutcome> {
  const child = spawnProcess([...program, JSON.stringify(task)], { cwd: '/', stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' })
  const kill = () => child.kill('SIGKILL')
  signal?.addEventListener('abort', kill, { once: true })
  if (signal?.aborted) kill()
  try {
    const [words, complaints, exit] = await Promise.all([textOf(child.stdout), textOf(child.stderr), child.exited])
    signal?.throwIfAborted()
    return words.endsWith('\n')
      ? (JSON.parse(words) as ExtractOutcome)
      : { failed: complaints || `ended by ${exit.signal ?? exit.exitCode}` }
  } finally {
    signal?.removeEventListener('abort', kill)
  }
}

const MAX_WORDS = 64 * 1024

async function textOf(stream: SpawnedProcess['stdout']): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream ?? []) if (text.length < MAX_WORDS) text += decoder.decode(chunk, { stream: true })
  return text
}

function resultOf(outcome: ExtractOutcome): ExtractResult {
  if ('done' in outcome) return outcome.done
  if ('refused' in outcome) throw new AppError(outcome.refused.code, outcome.refused.message)
  const cause = new Error(outcome.failed)
  throw new AppError('unavailable', 'The archive could not be unpacked on this server. Try again; its log tells more.', { cause })
}
