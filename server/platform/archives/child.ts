/**
 * An archive is unpacked in a process of its own: what a hostile one costs, in memory or time, it costs there, and goes with the process.
 * The task comes as an argument, and the outcome leaves as a line of JSON; standard input ends when whoever started it is gone.
 */
import { writeFileSync, writeSync } from 'node:fs'
import { AppError, messageOf } from '../../../shared/error.ts'
import { type ExtractOptions, extractArchive } from './archive.ts'
import { refuseArchive } from './rules.ts'
import type { ExtractResult } from './target.ts'

export type ExtractTask = Omit<ExtractOptions, 'signal'>

export type ExtractOutcome = { done: ExtractResult } | { refused: Pick<AppError, 'code' | 'message'> } | { failed: string }

/** Bun itself takes some 60 MB, an archive at the limits of its names some 100 MB more. */
const MAX_MEMORY_BYTES = 384 * 1024 * 1024
const MEMORY_LOOK_MS = 20

export async function runExtraction(task: string): Promise<never> {
  goFirstWhenMemoryIsShort()
  const stop = new AbortController()
  process.stdin.on('end', () => stop.abort(new Error('whoever wanted it is gone'))).resume()
  setInterval(() => {
    if (process.memoryUsage.rss() > MAX_MEMORY_BYTES) stop.abort(refuseArchive('it takes too much memory to unpack'))
  }, MEMORY_LOOK_MS)
  const outcome = await outcomeOf({ ...(JSON.parse(task) as ExtractTask), signal: stop.signal })
  try {
    writeSync(1, `${JSON.stringify(outcome)}\n`)
  } finally {
    process.exit(0)
  }
}

function goFirstWhenMemoryIsShort(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '800')
  } catch {
    // A machine that does not let us is none the worse for it.
  }
}

async function outcomeOf(options: ExtractOptions): Promise<ExtractOutcome> {
  try {
    return { done: await extractArchive(options) }
  } catch (error) {
    return error instanceof AppError ? { refused: { code: error.code, message: error.message } } : { failed: messageOf(error) }
  }
}

/** In the source tree this file is a program; the executable has it as a command. */
if (import.meta.main) void runExtraction(process.argv.at(-1) ?? '')
