import type { ServerLog } from '../server-log.ts'
import { describeError } from '../server-log.ts'
import { type Clock, pause } from './clock.ts'

export interface Publisher {
  /** Returns when the ingress has taken a table at least as new as the database at the time of the call. */
  publish(): Promise<void>
  republish(): Promise<void>
}

export interface Published<T> {
  table: T
  version: number
}

export interface PublisherOptions<T> extends Clock {
  what: string
  build(): T
  send(table: T, version: number, last: Published<T> | undefined): Promise<void>
  log: ServerLog
  signal: AbortSignal
}

export const publishTogether = (publishers: readonly Publisher[]): Publisher => ({
  publish: async () => void (await Promise.all(publishers.map((one) => one.publish()))),
  republish: async () => void (await Promise.all(publishers.map((one) => one.republish()))),
})

const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 2000

/** One publication at a time; calls that arrive meanwhile share the next one. An ingress that is away is waited for. */
export function createPublisher<T>({ what, build, send, log, signal, now, after }: PublisherOptions<T>): Publisher {
  let published: (Published<T> & { text: string }) | undefined
  let version = 0
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  async function publishOnce(): Promise<void> {
    for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)) {
      const table = build()
      const text = JSON.stringify(table)
      if (text === published?.text) return
      version = Math.max(now(), version + 1)
      try {
        await send(table, version, published)
        published = { table, version, text }
        return
      } catch (error) {
        log.error(`${what} not published`, describeError(error))
        await pause({ after }, retryMs, signal)
      }
    }
  }

  function startNext(): Promise<void> {
    next = undefined
    running = publishOnce().finally(() => {
      running = undefined
    })
    return running
  }

  function publish(): Promise<void> {
    if (running === undefined) return startNext()
    next ??= running.then(startNext, startNext)
    return next
  }

  return {
    publish,
    republish() {
      published = undefined
      return publish()
    },
  }
}
