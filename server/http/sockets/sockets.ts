import type { Server, ServerWebSocket, WebSocketHandler } from 'bun'
import { AppError } from '../../../shared/error.ts'

export interface ClientSocket {
  /** `queued`: nothing more should be sent before `drained`; `dropped`: the client has gone, or was sent far too much. */
  send(data: string | Uint8Array): 'sent' | 'queued' | 'dropped'
  close(code: number, reason: string): void
}

export interface SocketEvents {
  opened(socket: ClientSocket): void
  /** A frame of the client's. Without it the client only listens, and one that says more than a word is closed. */
  message?(data: string | Uint8Array): void
  endReason?(): string | undefined
  /** A client that is silent for this long, even to pings, is cut off: what the socket holds must not outlive it. */
  silenceMs?: number
  drained?(): void
  /** Called once, whoever closed it: the place to free everything. The reason is the server's, undefined when the client went by itself. */
  closed(reason: string | undefined): void
}

export interface SocketData {
  events: SocketEvents
  isAllowed: () => boolean
  /** The time in milliseconds of `performance.now()`. */
  heardAt: number
  endedBecause: string | undefined
}

export interface UpgradeOptions extends Pick<SocketData, 'events' | 'isAllowed'> {
  headers: Record<string, string>
}

export interface SocketHub {
  /** @throws AppError `bad_request` when the request is no WebSocket handshake, `unavailable` while the server stops. */
  upgrade(server: Server<SocketData>, request: Request, options: UpgradeOptions): void
  closeAll(): void
  openCount(): number
  readonly handler: WebSocketHandler<SocketData>
}

export interface SocketTimings {
  heartbeatMs: number
  recheckMs: number
}

export const defaultSocketTimings: SocketTimings = { heartbeatMs: 30_000, recheckMs: 2000 }

export const MAX_FRAME_BYTES = 64 * 1024
/** Clients who only listen have nothing to say; anything longer closes the socket. */
const MAX_WORD_BYTES = 1024
const MAX_QUEUED_BYTES = 4 * 1024 * 1024
const IDLE_SECONDS = 120
const MAX_REASON_BYTES = 123
const GOING_AWAY = 1001
const POLICY_VIOLATION = 1008
const TOO_BIG = 1009

type Socket = ServerWebSocket<SocketData>

export function createSocketHub(timings: SocketTimings = defaultSocketTimings): SocketHub {
  const open = new Set<Socket>()
  let timers: Timer[] = []
  let isStopping = false

  const startTimers = () => {
    if (timers.length > 0) return
    timers = [setInterval(() => heartbeat(open), timings.heartbeatMs), setInterval(() => recheck(open), timings.recheckMs)]
  }
  const stopTimers = () => {
    for (const timer of timers) clearInterval(timer)
    timers = []
  }

  return {
    upgrade(server, request, { headers, events, isAllowed }) {
      if (isStopping) throw new AppError('unavailable', 'The server is stopping. Connect again in a few seconds.', { retryAfterSeconds: 5 })
      if (!server.upgrade(request, { headers, data: { events, isAllowed, heardAt: performance.now(), endedBecause: undefined } }))
        throw noHandshake()
    },
    closeAll() {
      isStopping = true
      for (const socket of [...open]) end(socket, GOING_AWAY, 'The server is stopping')
    },
    openCount: () => open.size,
    handler: {
      maxPayloadLength: MAX_FRAME_BYTES,
      backpressureLimit: MAX_QUEUED_BYTES,
      idleTimeout: IDLE_SECONDS,
      open(socket) {
        open.add(socket)
        startTimers()
        socket.data.events.opened(clientOf(socket))
      },
      message: receive,
      pong: heard,
      ping: heard,
      drain: (socket) => socket.data.events.drained?.(),
      close(socket) {
        open.delete(socket)
        if (open.size === 0) stopTimers()
        socket.data.events.closed(socket.data.endedBecause)
      },
    },
  }
}

/** @throws AppError `bad_request` for a request that does not ask for a WebSocket. */
export function requireHandshake({ headers }: Request): void {
  if (headers.get('upgrade')?.toLowerCase() !== 'websocket' || !headers.has('sec-websocket-key')) throw noHandshake()
}

const noHandshake = (): AppError => new AppError('bad_request', 'This address speaks WebSocket only. Connect with a WebSocket client.')

const clientOf = (socket: Socket): ClientSocket => ({
  send(data) {
    // Bun: -1 is queued because the client is slow, 0 dropped, else the bytes sent.
    const sent = socket.send(data)
    if (sent === 0) return 'dropped'
    return sent === -1 ? 'queued' : 'sent'
  },
  close: (code, reason) => end(socket, code, reason),
})

function receive(socket: Socket, data: string | Uint8Array): void {
  heard(socket)
  const { events } = socket.data
  if (events.message !== undefined) events.message(data)
  else if (data.length > MAX_WORD_BYTES) end(socket, TOO_BIG, 'This socket is for listening')
}

function heard({ data }: Socket): void {
  data.heardAt = performance.now()
}

function heartbeat(sockets: Iterable<Socket>): void {
  for (const socket of sockets) socket.ping()
}

function recheck(sockets: Iterable<Socket>): void {
  for (const socket of [...sockets]) {
    const { isAllowed, events } = socket.data
    const reason = isAllowed() ? events.endReason?.() : 'The credential was revoked or lost its permission'
    if (reason !== undefined) end(socket, POLICY_VIOLATION, reason)
    else if (events.silenceMs !== undefined) endIfSilent(socket, events.silenceMs)
  }
}

function endIfSilent(socket: Socket, silenceMs: number): void {
  if (performance.now() - socket.data.heardAt <= silenceMs) return void socket.ping()
  socket.data.endedBecause = 'The client answered no more'
  socket.terminate()
}

function end(socket: Socket, code: number, reason: string): void {
  socket.data.endedBecause ??= reason
  socket.close(code, fitting(reason))
}

function fitting(reason: string): string {
  const bytes = new TextEncoder().encode(reason)
  return bytes.length <= MAX_REASON_BYTES ? reason : new TextDecoder().decode(bytes.slice(0, MAX_REASON_BYTES), { stream: true })
}
