import { randomFrom } from '../../server/ingress/random.ts'
import { createRecord, type Kind, kinds, type Record } from './attempt.ts'
import type { SlowBody, Target } from './connection.ts'
import { createHttp1 } from './http1.ts'
import { createHttp2 } from './http2.ts'
import { startEchoes } from './sockets.ts'

export interface MixtureOptions {
  host: string
  httpPort: number
  tlsPort: number
  /** What every right answer begins with. */
  expected: string
  ratePerSecond: number
  seed: number
}

export interface Mixture {
  readonly record: Record
  readonly startedAt: number
  /** Returns when that many more requests have been answered. @throws when they are not in good time. */
  answered(count: number): Promise<void>
  /** Sends no more, waits for what is under way, and says in a line what there was. */
  stop(): Promise<string>
}

/** Shares are of a hundred requests. WebSockets come on top, a few that never rest. */
const shares: Partial<{ [K in Kind]: number }> = {
  'kept-alive/http': 42,
  'fresh/http': 18,
  'long/http': 4,
  'upload/http': 1,
  'kept-alive/https': 14,
  'fresh/https': 3,
  'long/https': 1,
  'upload/https': 1,
  h2: 15,
  'long/h2': 1,
}
const SOCKETS = 6
const TLS_SOCKETS = 2

const TICK_MS = 5
const ANSWERED_TIMEOUT_MS = 60_000
/** A load that is forgotten ends by itself. */
const LONGEST_MS = 2 * 60 * 60 * 1000

/** Requests of all kinds at a constant rate, sent whether or not earlier ones have been answered. */
export function startMixture({ host, httpPort, tlsPort, expected, ratePerSecond, seed }: MixtureOptions): Mixture {
  const random = randomFrom(seed)
  const record = createRecord()
  const plain: Target = { host, port: httpPort, scheme: 'http' }
  const secure: Target = { host, port: tlsPort, scheme: 'https' }
  const http = createHttp1(plain, expected, record)
  const https = createHttp1(secure, expected, record)
  const http2 = createHttp2(secure, expected, record)
  const echoes = [startEchoes(plain, SOCKETS, record), startEchoes(secure, TLS_SOCKETS, record)]
  const longMs = () => 1000 + random(1000)
  const body = (): SlowBody => ({ sizeBytes: (256 + random(768)) * 1024, parts: 8, pauseMs: 50 + random(150) })
  const once: Partial<{ [K in Kind]: () => Promise<void> }> = {
    'kept-alive/http': () => http.keptAlive('/'),
    'fresh/http': () => http.fresh('/'),
    'long/http': () => http.long(longMs()),
    'upload/http': () => http.upload(body()),
    'kept-alive/https': () => https.keptAlive('/'),
    'fresh/https': () => https.fresh('/'),
    'long/https': () => https.long(longMs()),
    'upload/https': () => https.upload(body()),
    h2: () => http2.get('h2', '/'),
    'long/h2': () => http2.get('long/h2', `/slow?ms=${longMs()}`),
  }
  const deck = Object.entries(shares).flatMap(([kind, share]) => Array<Kind>(share).fill(kind as Kind))
  const underWay = new Set<Promise<void>>()
  const startedAt = performance.now()
  let sent = 0
  let done = 0

  const timer = setInterval(() => {
    const elapsedMs = performance.now() - startedAt
    if (elapsedMs > LONGEST_MS) clearInterval(timer)
    for (const due = Math.floor((elapsedMs / 1000) * ratePerSecond); sent < due; sent++) {
      const request = once[deck[random(deck.length)] ?? 'h2']?.() ?? Promise.resolve()
      const settled = request.finally(() => {
        done++
        underWay.delete(settled)
      })
      underWay.add(settled)
    }
  }, TICK_MS)

  return {
    record,
    startedAt,
    async answered(count) {
      const wanted = done + count
      const deadline = performance.now() + ANSWERED_TIMEOUT_MS
      while (done < wanted) {
        if (performance.now() > deadline) throw new Error('The load does not get on')
        await Bun.sleep(TICK_MS)
      }
    },
    async stop() {
      clearInterval(timer)
      await Promise.all([...underWay, ...echoes.map((echo) => echo.stop())])
      for (const client of [http, https, http2]) client.close()
      const cameAgain = echoes.reduce((sum, echo) => sum + echo.cameAgain, 0)
      return `${describe(record)}; WebSockets told 1001: ${cameAgain}`
    },
  }
}

const describe = (record: Record): string =>
  kinds.map((kind) => `${kind} ${record.count(kind)} (slowest ${Math.round(record.longestMs(kind))} ms)`).join(', ')
