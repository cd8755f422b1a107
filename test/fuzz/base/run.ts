import { randomFrom } from '../../server/ingress/random.ts'
import { corpusOf } from './corpus.ts'
import { mutated, type Random } from './mutate.ts'
import type { FuzzTarget } from './target.ts'

export interface FuzzOptions {
  inputs: number
  seed: number
  /** Told every million inputs. */
  onProgress?: (report: FuzzReport) => void
  /** Told of each input before it is tried: whoever watches can tell which one never ends. */
  onInput?: (input: Buffer) => void
}

export interface FuzzFailure {
  input: Buffer
  reason: string
}

export interface FuzzReport {
  inputs: number
  seconds: number
  /** Distinct outcomes. */
  outcomes: number
  /** The longest that one input took. */
  slowestMs: number
  failures: FuzzFailure[]
  /** The first input of each outcome that the corpus does not have. */
  discovered: Map<string, Buffer>
  compared: Record<string, number>
}

const MAX_FAILURES = 20
const MAX_POOL = 10_000
const COMPARE_EVERY = 20_000
const PROGRESS_EVERY = 1_000_000

/** Puts mutations of the seeds, the corpus and whatever is found on the way through the target: the same ones for the same seed. */
export async function fuzz(target: FuzzTarget, { inputs, seed, onProgress, onInput }: FuzzOptions): Promise<FuzzReport> {
  const random = randomFrom(seed)
  const pool = [...target.seeds.map((text) => Buffer.from(text, 'latin1')), ...corpusOf(target.name).map(({ input }) => input)]
  const dictionary = target.dictionary.map((text) => Buffer.from(text, 'latin1'))
  const known = new Set<string>()
  const report: FuzzReport = { inputs: 0, seconds: 0, outcomes: 0, slowestMs: 0, failures: [], discovered: new Map(), compared: {} }
  const startedAt = performance.now()
  for (const input of pool) known.add(attempt(target, input, { random, report }))
  for (let index = 0; index < inputs && report.failures.length < MAX_FAILURES; index++) {
    const input = mutated(pool, dictionary, random)
    onInput?.(input)
    const outcome = attempt(target, input, { random, report })
    if (!known.has(outcome)) {
      known.add(outcome)
      const found = Buffer.from(input)
      if (pool.length < MAX_POOL) pool.push(found)
      else pool[random(pool.length)] = found
      report.discovered.set(outcome, found)
    }
    report.inputs++
    if (report.inputs % COMPARE_EVERY === 0) await compare(target, report)
    if (report.inputs % PROGRESS_EVERY === 0) onProgress?.(finished(target, report, { known, startedAt }))
  }
  await compare(target, report)
  return finished(target, report, { known, startedAt })
}

function attempt(target: FuzzTarget, input: Buffer, { random, report }: { random: Random; report: FuzzReport }): string {
  const startedAt = performance.now()
  try {
    return target.check(input, random)
  } catch (error) {
    report.failures.push({ input: Buffer.from(input), reason: reasonOf(error) })
    return 'failed'
  } finally {
    report.slowestMs = Math.max(report.slowestMs, performance.now() - startedAt)
  }
}

async function compare(target: FuzzTarget, report: FuzzReport): Promise<void> {
  try {
    await target.compare?.()
  } catch (error) {
    const input = error instanceof Disagreement ? error.input : Buffer.alloc(0)
    report.failures.push({ input, reason: reasonOf(error) })
  }
}

function finished(target: FuzzTarget, report: FuzzReport, { known, startedAt }: { known: Set<string>; startedAt: number }): FuzzReport {
  report.seconds = (performance.now() - startedAt) / 1000
  report.outcomes = known.size
  report.compared = target.compared?.() ?? {}
  return report
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** Two readers understand an input differently. */
export class Disagreement extends Error {
  readonly input: Buffer

  constructor(message: string, input: Buffer) {
    super(message)
    this.input = input
  }
}
