import { connectHttp, type HttpConnection } from './http-connection.ts'

export interface LoadOptions {
  port: number
  host: string
  path?: string
  /** Requests a second, sent whether or not earlier ones have been answered. */
  ratePerSecond?: number
}

/** One request and what became of it. Times are milliseconds of `performance.now()`. */
export interface Sample {
  sentAt: number
  doneAt: number
  body: string | undefined
  /** Why it failed: another status, a cut connection, no answer in time. */
  failure: string | undefined
}

export interface Load {
  readonly samples: readonly Sample[]
  failures(): string[]
  /** Returns when a number of requests that began after this moment have been answered. */
  answered(count: number): Promise<void>
  /** Sends no more, and waits for what is under way. */
  stop(): Promise<void>
}

const DEFAULT_RATE = 100
const REQUEST_TIMEOUT_MS = 15_000
const TICK_MS = 5
/** A load that a failed test forgot ends by itself. */
const LONGEST_MS = 300_000

/** Sends requests at a constant rate over keep-alive connections. A connection is opened when none is idle; a request is never repeated. */
export function startLoad({ port, host, path = '/', ratePerSecond = DEFAULT_RATE }: LoadOptions): Load {
  const samples: Sample[] = []
  const idle: HttpConnection[] = []
  const underWay = new Set<Promise<void>>()
  const startedAt = performance.now()
  let sent = 0

  async function takeConnection(): Promise<HttpConnection> {
    for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) if (connection.isOpen) return connection
    return await connectHttp(port)
  }

  async function request(): Promise<void> {
    const sentAt = performance.now()
    let body: string | undefined
    let failure: string | undefined
    try {
      const connection = await takeConnection()
      const answer = await connection.get(host, path, REQUEST_TIMEOUT_MS)
      if (connection.isOpen) idle.push(connection)
      if (answer.status === 200) body = answer.body.trim()
      else failure = `status ${answer.status}: ${answer.body.trim()}`
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error)
    }
    samples.push({ sentAt, doneAt: performance.now(), body, failure })
  }

  const timer = setInterval(() => {
    const elapsedMs = performance.now() - startedAt
    if (elapsedMs > LONGEST_MS) clearInterval(timer)
    for (const due = Math.floor((elapsedMs / 1000) * ratePerSecond); sent < due; sent++) {
      const done = request().finally(() => underWay.delete(done))
      underWay.add(done)
    }
  }, TICK_MS)

  return {
    samples,
    failures: () =>
      samples.flatMap(({ failure, sentAt }) => (failure === undefined ? [] : [`${Math.round(sentAt - startedAt)} ms: ${failure}`])),
    async answered(count) {
      const from = performance.now()
      const deadline = from + REQUEST_TIMEOUT_MS + (count / ratePerSecond) * 1000
      while (samples.filter(({ sentAt }) => sentAt >= from).length < count) {
        if (performance.now() > deadline) throw new Error('The load generator does not get on')
        await Bun.sleep(TICK_MS)
      }
    },
    async stop() {
      clearInterval(timer)
      await Promise.all(underWay)
      for (const connection of idle) connection.close()
    },
  }
}

/**
 * Whether answers changed from one version to another in a single step: none but these two, and no request that began after an answer of
 * the new one was given the old. Returns what contradicts it.
 */
export function contradictionsOfSwitch(samples: readonly Sample[], from: string, to: string): string[] {
  const answered = samples.filter(({ body }) => body !== undefined)
  const strange = answered.filter(({ body }) => body !== from && body !== to).map(({ body }) => `neither "${from}" nor "${to}": "${body}"`)
  const firstNewAt = Math.min(...answered.filter(({ body }) => body === to).map(({ doneAt }) => doneAt))
  const back = answered.filter(({ body, sentAt }) => body === from && sentAt > firstNewAt)
  const isReached = answered.some(({ body }) => body === to)
  return [
    ...new Set(strange),
    ...back.map(({ sentAt }) => `"${from}" again ${Math.round(sentAt - firstNewAt)} ms after the first "${to}"`),
    ...(isReached ? [] : [`never "${to}"`]),
  ]
}
