import type { Server, ServerWebSocket, WebSocketHandler } from 'bun'
import { AppError } from '../../shared/error.ts'

/** A WebSocket of a client, which only listens. */
export interface ListenerSocket {
  /** Sends one text frame. `queued`: taken, but nothing more should be sent before `drained`; `dropped`: the client has gone. */
  send(text: string): 'sent' | 'queued' | 'dropped'
  close(code: number, reason: string): void
}

/** What a route does with a socket it was given. */
export interface SocketEvents {
  opened(socket: ListenerSocket): void
  /** The client has taken what was queued. */
  drained?(): void
  /** Called once, whoever closed it: the place to free everything. */
  closed(): void
}

export interface SocketData {
  events: SocketEvents
  isAllowed: () => boolean
}

export interface UpgradeOptions extends SocketData {
  headers: Record<string, string>
}

/** All open WebSockets: their heartbeat, and their end when the right to them ends. */
export interface SocketHub {
  /** @throws AppError `bad_request` when the request is no WebSocket handshake, `unavailable` while the server stops. */
  upgrade(server: Server<SocketData>, request: Request, options: UpgradeOptions): void
  closeAll(): void
  openCount(): number
  readonly handler: WebSocketHandler<SocketData>
}

export interface SocketTimings {
  heartbeatMs: number
  /** How often every socket's right is looked at again. */
  recheckMs: number
}

export const defaultSocketTimings: SocketTimings = { heartbeatMs: 30_000, recheckMs: 2000 }

/** Clients have nothing to say; anything longer closes the socket. */
const MAX_INCOMING_BYTES = 1024
/** A client that lets this much wait is too slow; what it is sent then is dropped. */
const MAX_QUEUED_BYTES = 4 * 1024 * 1024
/** Without an answer to pings for this long, the client is gone. */
const IDLE_SECONDS = 120
const GOING_AWAY = 1001
const POLICY_VIOLATION = 1008

type Socket = ServerWebSocket<SocketData>

export function createSocketHub(timings: SocketTimings = defaultSocketTimings): SocketHub {
  const open = new Set<Socket>()
  let timers: Timer[] = []
  let isStopping = false

  const startTimers = () => {
    if (timers.length > 0) return
    timers = [setInterval(() => heartbeat(open), timings.heartbeatMs), setInterval(() => closeForbidden(open), timings.recheckMs)]
  }
  const stopTimers = () => {
    for (const timer of timers) clearInterval(timer)
    timers = []
  }

  return {
    upgrade(server, request, { headers, events, isAllowed }) {
      if (isStopping) throw new AppError('unavailable', 'The server is stopping. Connect again in a few seconds.', { retryAfterSeconds: 5 })
      if (!server.upgrade(request, { headers, data: { events, isAllowed } })) {
        throw new AppError('bad_request', 'This address speaks WebSocket only. Connect with a WebSocket client.')
      }
    },
    closeAll() {
      isStopping = true
      for (const socket of open) socket.close(GOING_AWAY, 'The server is stopping')
    },
    openCount: () => open.size,
    handler: {
      maxPayloadLength: MAX_INCOMING_BYTES,
      backpressureLimit: MAX_QUEUED_BYTES,
      idleTimeout: IDLE_SECONDS,
      open(socket) {
        open.add(socket)
        startTimers()
        socket.data.events.opened(listenerOf(socket))
      },
      message() {},
      drain: (socket) => socket.data.events.drained?.(),
      close(socket) {
        open.delete(socket)
        if (open.size === 0) stopTimers()
        socket.data.events.closed()
      },
    },
  }
}

const listenerOf = (socket: Socket): ListenerSocket => ({
  send(text) {
    // Bun: -1 is queued because the client is slow, 0 dropped, else the bytes sent.
    const sent = socket.send(text)
    if (sent === 0) return 'dropped'
    return sent === -1 ? 'queued' : 'sent'
  },
  close: (code, reason) => socket.close(code, reason),
})

function heartbeat(sockets: Iterable<Socket>): void {
  for (const socket of sockets) socket.ping()
}

function closeForbidden(sockets: Iterable<Socket>): void {
  for (const socket of [...sockets]) {
    if (!socket.data.isAllowed()) socket.close(POLICY_VIOLATION, 'The credential was revoked or lost its permission')
  }
}
