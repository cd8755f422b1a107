import { messageOf } from '../../../shared/error.ts'
import { descriptorOf, inheriting } from '../serve/transport.ts'
import type { HeldListener, Inheritance } from '../sockets/inherited.ts'
import { keepAlive } from '../sockets/keep-alive.ts'
import type { Stream } from '../tables/route-table.ts'
import { type PipedConnection, pipeEvents } from './piped-connection.ts'

export interface StreamListener {
  stream: Stream
  turn: number
}

export interface StreamListeners {
  apply(streams: readonly Stream[]): void
  held(): HeldListener[]
  close(): void
}

export interface StreamListenersOptions {
  inheritance: Inheritance
  vanishedMs: number
  log: (line: string) => void
  accept(listener: StreamListener, client: Bun.Socket<PipedConnection>): void
}

interface OpenListener extends StreamListener {
  socket: { stop(): void }
  descriptor: number
}

const RETRY_MS = 1000

export function createStreamListeners(options: StreamListenersOptions): StreamListeners {
  const listeners = new Map<string, OpenListener>()
  let wanted: readonly Stream[] = []
  let retry: ReturnType<typeof setTimeout> | undefined
  let isClosed = false

  function openMissing(): void {
    for (const stream of wanted.filter((one) => !listeners.has(keyOf(one)))) {
      try {
        listeners.set(keyOf(stream), openListener(stream, options))
      } catch (error) {
        const reason = messageOf(error)
        options.log(`Services cannot be reached at ${keyOf(stream)}, which is tried again: ${reason}`)
        retry ??= setTimeout(tryAgain, RETRY_MS)
      }
    }
  }

  function tryAgain(): void {
    retry = undefined
    openMissing()
  }

  function closeAllBut(keys: ReadonlySet<string>): void {
    for (const [key, { socket }] of [...listeners]) {
      if (keys.has(key)) continue
      socket.stop()
      listeners.delete(key)
    }
  }

  return {
    apply(streams) {
      if (isClosed) return
      wanted = streams
      closeAllBut(new Set(streams.map(keyOf)))
      for (const stream of streams) {
        const listener = listeners.get(keyOf(stream))
        if (listener !== undefined) listener.stream = stream
      }
      openMissing()
    },
    held: () => [...listeners.values()].map(({ stream, descriptor }) => ({ address: stream.listen, descriptor })),
    close() {
      isClosed = true
      clearTimeout(retry)
      closeAllBut(new Set())
    },
  }
}

function openListener(stream: Stream, { inheritance, vanishedMs, accept }: StreamListenersOptions): OpenListener {
  const { host, port } = stream.listen
  const listener: OpenListener = { stream, socket: { stop() {} }, descriptor: -1, turn: 0 }
  const handlers: Bun.SocketHandler<PipedConnection> = { ...pipeEvents, open: (client) => accept(listener, client) }
  const where = { hostname: host, port, allowHalfOpen: true, socket: handlers }
  const inherited = inheritance.take({ host, port })
  const socket = Bun.listen<PipedConnection>(inherited === undefined ? where : inheriting(where, inherited.descriptor))
  listener.socket = socket
  listener.descriptor = inherited?.descriptor ?? descriptorOf(socket)
  keepAlive(listener.descriptor, vanishedMs)
  return listener
}

const keyOf = ({ listen: { host, port } }: Stream): string => `${host}:${port}`
