import type { Kind, Record } from './attempt.ts'
import type { Target } from './connection.ts'

const OPEN_TIMEOUT_MS = 20_000
const ECHO_TIMEOUT_MS = 20_000
const GAP_MS = 100
/** Come again, says the server: the one end that costs nobody anything. */
const GOING_AWAY = 1001

export interface Echoes {
  /** Ends with 1001, each followed by a new connection at once. */
  readonly cameAgain: number
  stop(): Promise<void>
}

/** WebSockets that wait for the echo of every frame. An echo that is lost without 1001 is a failure, and so is any other end. */
export function startEchoes(target: Target, count: number, record: Record): Echoes {
  let isStopped = false
  let cameAgain = 0
  const kind: Kind = `websocket/${target.scheme}`

  async function live(socket: WebSocket, openedAt: number): Promise<void> {
    const ended = endOf(socket)
    for (let number = 0; !isStopped; number++) {
      const sentAt = performance.now()
      const outcome = await Promise.race([ended, echoOf(socket, `frame ${number}`)])
      if (outcome === GOING_AWAY) {
        cameAgain++
        return
      }
      const reason = outcome === 'echoed' ? undefined : typeof outcome === 'number' ? `ended with ${outcome}` : outcome
      record.add({ kind, openedAt, sentAt, doneAt: performance.now(), reason })
      if (reason !== undefined) return
      await Bun.sleep(GAP_MS)
    }
  }

  async function run(): Promise<void> {
    while (!isStopped) {
      const openedAt = performance.now()
      const socket = new WebSocket(`ws${target.scheme === 'https' ? 's' : ''}://127.0.0.1:${target.port}/echo`, {
        headers: { host: target.host },
        tls: { rejectUnauthorized: false },
      } as unknown as string[])
      const refused = await opened(socket)
      if (refused === undefined) await live(socket, openedAt)
      else record.add({ kind, openedAt, sentAt: openedAt, doneAt: performance.now(), reason: refused })
      if (refused !== undefined) await Bun.sleep(GAP_MS)
      socket.close()
    }
  }

  const running = Array.from({ length: count }, run)
  return {
    get cameAgain() {
      return cameAgain
    },
    async stop() {
      isStopped = true
      await Promise.all(running)
    },
  }
}

function opened(socket: WebSocket): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const timer = setTimeout(() => resolve(`not open in ${OPEN_TIMEOUT_MS} ms`), OPEN_TIMEOUT_MS)
  socket.addEventListener('open', () => resolve(undefined), { once: true })
  socket.addEventListener('close', ({ code, reason }) => resolve(`not opened: ${code} ${reason}`), { once: true })
  return promise.finally(() => clearTimeout(timer))
}

const endOf = (socket: WebSocket): Promise<number> =>
  new Promise((resolve) => socket.addEventListener('close', ({ code }) => resolve(code), { once: true }))

function echoOf(socket: WebSocket, text: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const timer = setTimeout(() => resolve(`no echo in ${ECHO_TIMEOUT_MS} ms`), ECHO_TIMEOUT_MS)
  const hear = ({ data }: MessageEvent) => resolve(data === text ? 'echoed' : `echoed ${JSON.stringify(data)} for ${JSON.stringify(text)}`)
  socket.addEventListener('message', hear, { once: true })
  if (socket.readyState === WebSocket.OPEN) socket.send(text)
  return promise.finally(() => clearTimeout(timer))
}
