/**
 * Live lines for subscribers. A subscriber is the number of the line up to which it has everything. While it is behind, lines come from the
 * store; once it has caught up they come from the newest lines, which all share. Changing over is one synchronous step, so nothing is
 * lost or doubled. Nothing is buffered for a slow subscriber: it is simply behind again, and ended after a minute of taking nothing.
 */
import { compileFilter, type LineTest, type LogFilter, matches } from './filter.ts'
import type { LogLine } from './line.ts'
import { createRecentLines } from './recent.ts'
import type { LogStore } from './store.ts'
import { createSubscriptionLimits } from './subscription-limits.ts'

interface LogSink {
  /** Sends one line. False: it was taken, but no more may come until `resume` is called. */
  send(line: LogLine): boolean
}

export interface SubscribeOptions {
  filter: LogFilter
  from: 'now' | 'start' | { seq: number }
  sink: LogSink
  signal: AbortSignal
  onError?: (error: unknown) => void
  onTooSlow?: () => void
}

export interface Subscription {
  resume(): void
}

export interface LogHub {
  subscribe(options: SubscribeOptions): Subscription
  takeSubscription: ReturnType<typeof createSubscriptionLimits>
  size(): number
  close(): void
}

const LINES_PER_READ = 500
/** Followers that read from the store at a time, each of which takes up to 8 ms of a turn. */
const READERS_AT_ONCE = 2
const RECENT_LINES = 5000
const LINES_PER_PART = 100
const TURN_MS = 5
const SLOWEST_MS = 60_000

type Phase = 'reading' | 'live' | 'full' | 'ended'

interface Subscriber {
  options: SubscribeOptions
  test: LineTest
  nextSeq: number
  knownGapSeq: number
  phase: Phase
  fullAt: number
  ending: AbortController
}

export function createLogHub(store: LogStore, slowestMs = SLOWEST_MS): LogHub {
  const subscribers = new Set<Subscriber>()
  const recent = createRecentLines(store.nextSeq(), RECENT_LINES)
  const readTurns = createReadTurns(READERS_AT_ONCE)

  const end = (subscriber: Subscriber) => {
    subscriber.phase = 'ended'
    subscriber.ending.abort()
    subscribers.delete(subscriber)
  }
  const fail = (subscriber: Subscriber, error: unknown) => {
    if (subscriber.phase === 'ended') return
    end(subscriber)
    subscriber.options.onError?.(error)
  }
  const start = (subscriber: Subscriber) => {
    subscriber.phase = 'reading'
    catchUp(store, subscriber, readTurns).then(
      () => pumpSoon(),
      (error: unknown) => fail(subscriber, error),
    )
  }

  const advance = (subscriber: Subscriber) => {
    const lines = recent.from(subscriber.nextSeq, LINES_PER_PART)
    if (lines === undefined) return start(subscriber)
    if (lines.length === 0) subscriber.nextSeq = store.nextSeq()
    try {
      deliver(subscriber, lines)
    } catch (error) {
      fail(subscriber, error)
    }
  }
  const isDue = ({ phase, nextSeq }: Subscriber) => phase === 'live' && nextSeq < store.nextSeq()
  const pumpSoon = createPump(subscribers, { isDue, advance })
  const stopListening = store.listen((lines) => {
    recent.push(lines)
    pumpSoon()
  })
  const timer = setInterval(() => {
    for (const subscriber of slowOnes(subscribers, slowestMs)) {
      end(subscriber)
      subscriber.options.onTooSlow?.()
    }
  }, slowestMs / 4)
  timer.unref()

  return {
    takeSubscription: createSubscriptionLimits(),
    subscribe(options) {
      const test = compileFilter(options.filter)
      const subscriber: Subscriber = {
        options,
        test,
        nextSeq: firstSeq(store, options.from),
        knownGapSeq: options.from === 'start' ? store.prunedSeq(test) : 0,
        phase: 'reading',
        fullAt: 0,
        ending: new AbortController(),
      }
      if (options.signal.aborted) return { resume: () => {} }
      subscribers.add(subscriber)
      const { signal } = subscriber.ending
      options.signal.addEventListener('abort', () => end(subscriber), { once: true, signal })
      start(subscriber)
      return {
        resume() {
          if (subscriber.phase === 'full') start(subscriber)
        },
      }
    },
    size: () => subscribers.size,
    close() {
      stopListening()
      clearInterval(timer)
      for (const subscriber of [...subscribers]) end(subscriber)
    },
  }
}

function slowOnes(subscribers: ReadonlySet<Subscriber>, slowestMs: number): Subscriber[] {
  const before = performance.now() - slowestMs
  return [...subscribers].filter(({ phase, fullAt }) => phase === 'full' && fullAt < before)
}

function createPump(
  subscribers: Set<Subscriber>,
  { isDue, advance }: { isDue(subscriber: Subscriber): boolean; advance(subscriber: Subscriber): void },
): () => void {
  let isWaiting = false
  const pump = () => {
    isWaiting = false
    const until = performance.now() + TURN_MS
    for (const subscriber of [...subscribers].filter(isDue)) {
      if (performance.now() >= until) break
      advance(subscriber)
      if (subscribers.delete(subscriber)) subscribers.add(subscriber)
    }
    if (subscribers.values().some(isDue)) pumpSoon()
  }
  const pumpSoon = () => {
    if (isWaiting || subscribers.size === 0) return
    isWaiting = true
    setImmediate(pump)
  }
  return pumpSoon
}

type ReadTurns = <T>(read: () => Promise<T>) => Promise<T>

function createReadTurns(atOnce: number): ReadTurns {
  const waiting: (() => void)[] = []
  let inUse = 0
  return async (read) => {
    while (inUse >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve))
    inUse++
    try {
      return await read()
    } finally {
      inUse--
      waiting.shift()?.()
    }
  }
}

function firstSeq(store: LogStore, from: SubscribeOptions['from']): number {
  if (from === 'now') return store.nextSeq()
  return from === 'start' ? 0 : from.seq
}

async function catchUp(store: LogStore, subscriber: Subscriber, takeTurn: ReadTurns): Promise<void> {
  const { test, ending } = subscriber
  while (subscriber.phase === 'reading') {
    const untilSeq = store.nextSeq()
    if (subscriber.nextSeq >= untilSeq) {
      subscriber.phase = 'live'
      return
    }
    const request = { test, fromSeq: subscriber.nextSeq, untilSeq, limit: LINES_PER_READ }
    const page = await takeTurn(() => store.readArrival(request, ending.signal))
    // Asked after reading, so that what has gone in between is told too.
    if (subscriber.phase !== 'reading' || !reportRemoved(store, subscriber)) return
    if (deliver(subscriber, page.lines)) subscriber.nextSeq = page.nextSeq
  }
}

function reportRemoved(store: LogStore, subscriber: Subscriber): boolean {
  const { test, nextSeq, options } = subscriber
  const prunedSeq = store.prunedSeq(test)
  if (prunedSeq <= subscriber.knownGapSeq || prunedSeq < nextSeq) return true
  subscriber.knownGapSeq = prunedSeq
  const [resource = ''] = test.resources ?? []
  const message = 'Some lines were removed by the log retention before they could be sent.'
  return accepts(
    subscriber,
    options.sink.send({ seq: prunedSeq, at: Date.now() * 1000, resource, instance: '', type: 'app', level: 'warning', message }),
  )
}

function deliver(subscriber: Subscriber, lines: readonly LogLine[]): boolean {
  for (const line of lines) {
    subscriber.nextSeq = line.seq + 1
    if (matches(line, subscriber.test) && !accepts(subscriber, subscriber.options.sink.send(line))) return false
  }
  return true
}

function accepts(subscriber: Subscriber, takesMore: boolean): boolean {
  if (subscriber.phase === 'ended') return false
  if (!takesMore) {
    subscriber.phase = 'full'
    subscriber.fullAt = performance.now()
  }
  return takesMore
}
