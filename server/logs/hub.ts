/**
 * Live lines for subscribers. A subscriber is a number: every line before it has been dealt with. While it is behind, lines
 * come from the store, in order of arrival; once it has caught up they come as they are stored. Changing over is one
 * synchronous step, so nothing is lost or doubled. A subscriber that cannot take more is simply behind again: nothing is
 * buffered for it, however slow it is.
 */
import { compileFilter, type LineTest, type LogFilter, matches } from './filter.ts'
import type { LogLine } from './line.ts'
import type { LogStore } from './store.ts'

interface LogSink {
  /** Sends one line. False: it was taken, but no more may come until `resume` is called. */
  send(line: LogLine): boolean
}

export interface SubscribeOptions {
  filter: LogFilter
  /** Where to begin: only new lines, every stored line of the filter (which may have a `startAt`), or those from a number on. */
  from: 'now' | 'start' | { seq: number }
  sink: LogSink
  /** Ends the subscription. */
  signal: AbortSignal
  /** The store could not be read, or the sink threw; the subscription has ended. */
  onError?: (error: unknown) => void
}

export interface Subscription {
  /** To be called when the sink can take lines again; harmless at any other time. */
  resume(): void
}

export interface LogHub {
  subscribe(options: SubscribeOptions): Subscription
  /** How many subscriptions there are. */
  size(): number
  /** Ends all subscriptions. */
  close(): void
}

const LINES_PER_READ = 500

type Phase = 'reading' | 'live' | 'full' | 'ended'

interface Subscriber {
  options: SubscribeOptions
  test: LineTest
  nextSeq: number
  /** Removed lines up to this one are no news to the subscriber. */
  knownGapSeq: number
  phase: Phase
  /** Aborts when the subscription ends for whatever reason. */
  ending: AbortController
}

export function createLogHub(store: LogStore): LogHub {
  const subscribers = new Set<Subscriber>()

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
    catchUp(store, subscriber).catch((error: unknown) => fail(subscriber, error))
  }

  const stopListening = store.listen((lines) => {
    for (const subscriber of subscribers) {
      if (subscriber.phase !== 'live') continue
      try {
        deliver(subscriber, lines)
      } catch (error) {
        fail(subscriber, error)
      }
    }
  })

  return {
    subscribe(options) {
      const test = compileFilter(options.filter)
      const subscriber: Subscriber = {
        options,
        test,
        nextSeq: firstSeq(store, options.from),
        knownGapSeq: options.from === 'start' ? store.prunedSeq(test) : 0,
        phase: 'reading',
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
      for (const subscriber of [...subscribers]) end(subscriber)
    },
  }
}

function firstSeq(store: LogStore, from: SubscribeOptions['from']): number {
  if (from === 'now') return store.nextSeq()
  return from === 'start' ? 0 : from.seq
}

/** Reads from the store until nothing is missing, the sink is full, or the subscription ends. */
async function catchUp(store: LogStore, subscriber: Subscriber): Promise<void> {
  const { test, ending } = subscriber
  while (subscriber.phase === 'reading') {
    const untilSeq = store.nextSeq()
    if (subscriber.nextSeq >= untilSeq) {
      subscriber.phase = 'live'
      return
    }
    const page = await store.readArrival({ test, fromSeq: subscriber.nextSeq, untilSeq, limit: LINES_PER_READ }, ending.signal)
    // Asked after reading, so that what has gone in between is told too.
    if (subscriber.phase !== 'reading' || !tellOfGap(store, subscriber)) return
    if (deliver(subscriber, page.lines)) subscriber.nextSeq = page.nextSeq
  }
}

/** Tells a subscriber whose lines have been removed before it took them. Returns false when the sink is full. */
function tellOfGap(store: LogStore, subscriber: Subscriber): boolean {
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

/** Sends what passes the test. Returns false when the sink is full or the subscription has ended meanwhile. */
function deliver(subscriber: Subscriber, lines: readonly LogLine[]): boolean {
  for (const line of lines) {
    subscriber.nextSeq = line.seq + 1
    if (matches(line, subscriber.test) && !accepts(subscriber, subscriber.options.sink.send(line))) return false
  }
  return true
}

function accepts(subscriber: Subscriber, takesMore: boolean): boolean {
  if (subscriber.phase === 'ended') return false
  if (!takesMore) subscriber.phase = 'full'
  return takesMore
}
