import { Webhook } from 'standardwebhooks'
import { until } from './until.ts'

/** A request as a receiver got it. */
export interface Received {
  id: string
  timestamp: number
  signature: string
  headers: Record<string, string>
  body: string
  path: string
}

export type Answerer = (got: Received, nth: number) => Response | Promise<Response>

export interface HookReceiver {
  url: string
  received: Received[]
  /** How requests are answered from now on; 204 at first. */
  answer(how: Answerer): void
  /** Waits until so many requests have come, and gives them. */
  got(count: number): Promise<Received[]>
  close(): void
}

/** A receiver of webhooks on this machine, over plain HTTP. */
export function startReceiver(): HookReceiver {
  const received: Received[] = []
  let answerer: Answerer = () => new Response(null, { status: 204 })
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const headers = Object.fromEntries(request.headers)
      const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '', 'webhook-signature': signature = '' } = headers
      const got = { id, timestamp: Number(timestamp), signature, headers, body: await request.text(), path: new URL(request.url).pathname }
      received.push(got)
      return answerer(got, received.length)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    received,
    answer(how) {
      answerer = how
    },
    got: (count) => until(`${count} requests have come`, () => received.length >= count && received),
    close: () => server.stop(true),
  }
}

/** Whether the library of Standard Webhooks takes a request, at the time at which it was sent. */
export function isVerified(secret: string, { headers, body, timestamp }: Received): boolean {
  const now = Date.now
  Date.now = () => timestamp * 1000
  try {
    new Webhook(secret).verify(body, headers)
    return true
  } catch {
    return false
  } finally {
    Date.now = now
  }
}
