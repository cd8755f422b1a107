import type { LogType } from '../../../shared/log.ts'
import type { OutputName, Outputs } from '../../engines/port/output.ts'
import { type Collector, MAX_LINE_BYTES } from './collector.ts'
import { guessLevel } from './level.ts'
import type { LogLine, NewLogLine } from './line.ts'
import type { LogRate } from './rate.ts'
import { createSequences } from './sequences.ts'
import { splitLines } from './split.ts'
import type { LogStore } from './store.ts'

export interface LoggedOutput extends OutputName {
  instance: string
  deployId?: string
  type: Extract<LogType, 'app' | 'build'>
}

/** Brings what workloads write into the log store, and what the platform remarks about them. */
export interface OutputLogs {
  /** Stores lines from now on as they come, beginning where an earlier control plane has stopped. */
  follow(output: LoggedOutput): void
  /** Stores the rest, an unterminated last line and all remarks included, and removes the output. Repeatable. */
  close(output: LoggedOutput): Promise<void>
  /** Removes an output that nobody knows any more, with what was not stored of it. Repeatable. */
  discard(output: OutputName): Promise<void>
  list(ownerId: string): Promise<string[]>
  /** Stores lines of the platform after what the workload has written so far. Nobody has to wait, and lines that find no room are left out. */
  remark(output: LoggedOutput, text: string): void
  /** Resolves when all remarks about an output that were made so far are stored. */
  remarked(output: OutputName): Promise<void>
  /** The newest lines of an output and of the remarks about it, oldest first, everything written so far among them. */
  newestLines(output: LoggedOutput, count: number): Promise<LogLine[]>
  settled(): Promise<void>
}

export interface OutputLogOptions {
  outputs: Outputs
  collector: Collector
  store: LogStore
  rate?: LogRate
  /** An engine that does not answer for so long keeps no remark back, which then stands before what is collected later. */
  longestWaitMs?: number
  onError(error: unknown): void
}

const LONGEST_WAIT_MS = 5000

export function createOutputLogs(options: OutputLogOptions): OutputLogs {
  const { outputs, collector, store, rate, longestWaitMs = LONGEST_WAIT_MS, onError } = options
  const remarks = createSequences(onError)
  const follow = (output: LoggedOutput) =>
    collector.follow({
      key: keyOf(output),
      source: outputs.open(output),
      lineOf: (message, now) => lineOf(output, { type: output.type, message, now }),
      rate,
    })
  const remarked = (output: OutputName) => remarks.settled(keyOf(output))
  /** What stands in the log of a deploy is told of its instances, and comes after what they have written. */
  const flush = async (output: LoggedOutput) => {
    await collector.flush(keyOf(output), { isFinal: true })
    if (output.type === 'build') await collector.flushAll(keyOf({ ...output, name: '' }))
  }
  const collect = async (output: LoggedOutput) => {
    try {
      await atMost(longestWaitMs, flush(output))
    } catch (error) {
      onError(error)
    }
  }
  return {
    follow,
    async close(output) {
      await remarked(output)
      follow(output)
      await collector.remove(keyOf(output))
    },
    async discard(output) {
      await collector.unfollow(keyOf(output), { drain: false })
      await outputs.open(output).remove()
      store.forgetCursor(keyOf(output))
    },
    list: (ownerId) => outputs.list(ownerId),
    remark: (output, text) =>
      remarks.run(keyOf(output), async () => {
        await collect(output)
        const { messages } = splitLines(Buffer.from(text), { maxLineBytes: MAX_LINE_BYTES, isFinal: true })
        store.append(messages.map((message) => lineOf(output, { type: 'platform', message, now: Date.now() })))
      }),
    remarked,
    async newestLines(output, limit) {
      await remarked(output)
      await collect(output)
      const { ownerId, instance, type } = output
      const page = await store.query({ resource: [ownerId], instance: [instance], type: [type, 'platform'], limit })
      return page.logs.toReversed()
    },
    settled: () => remarks.allSettled(),
  }
}

async function atMost(waitMs: number, work: Promise<void>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, waitMs)
  try {
    await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}

const keyOf = ({ ownerId, name }: OutputName): string => `${ownerId}/${name}`

interface Said {
  type: LogType
  message: string
  now: number
}

const lineOf = ({ ownerId: resource, name: _, ...origin }: LoggedOutput, { type, message, now }: Said): NewLogLine => ({
  ...origin,
  ...{ resource, type, message },
  timestampMs: now,
  level: guessLevel(message),
})
