import { messageOf } from '../../../shared/error.ts'
import { descriptorOf, inheriting } from '../serve/transport.ts'
import type { HeldListener, Inheritance } from '../sockets/inherited.ts'
import type { Stream } from '../tables/route-table.ts'
import { type PipedConnection, pipeEvents } from './piped-connection.ts'

/** Where one stream is listened for. */
export interface Door {
  stream: Stream
  /** Which of its targets is the next. */
  turn: number
}

/** The listeners of streams. One that cannot be opened is tried again. */
export interface Doors {
  /** Makes these all there are. */
  apply(streams: readonly Stream[]): void
  /** For a successor. */
  held(): HeldListener[]
  /** Closes all of them for good. */
  close(): void
}

export interface DoorsOptions {
  inheritance: Inheritance
  log: (line: string) => void
  accept(door: Door, client: Bun.Socket<PipedConnection>): void
}

interface OpenDoor extends Door {
  listener: { stop(): void }
  descriptor: number
}

const RETRY_MS = 1000

export function createDoors(options: DoorsOptions): Doors {
  const doors = new Map<string, OpenDoor>()
  let wanted: readonly Stream[] = []
  let retry: ReturnType<typeof setTimeout> | undefined
  let isClosed = false

  function openMissing(): void {
    for (const stream of wanted.filter((one) => !doors.has(keyOf(one)))) {
      try {
        doors.set(keyOf(stream), openDoor(stream, options))
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
    for (const [key, { listener }] of [...doors]) {
      if (keys.has(key)) continue
      listener.stop()
      doors.delete(key)
    }
  }

  return {
    apply(streams) {
      if (isClosed) return
      wanted = streams
      closeAllBut(new Set(streams.map(keyOf)))
      for (const stream of streams) {
        const door = doors.get(keyOf(stream))
        if (door !== undefined) door.stream = stream
      }
      openMissing()
    },
    held: () => [...doors.values()].map(({ stream, descriptor }) => ({ address: stream.listen, descriptor })),
    close() {
      isClosed = true
      clearTimeout(retry)
      closeAllBut(new Set())
    },
  }
}

function openDoor(stream: Stream, { inheritance, accept }: DoorsOptions): OpenDoor {
  const { host, port } = stream.listen
  const door: OpenDoor = { stream, listener: { stop() {} }, descriptor: -1, turn: 0 }
  const socket: Bun.SocketHandler<PipedConnection> = { ...pipeEvents, open: (client) => accept(door, client) }
  const where = { hostname: host, port, allowHalfOpen: true, socket }
  const inherited = inheritance.take({ host, port })
  const listener = Bun.listen<PipedConnection>(inherited === undefined ? where : inheriting(where, inherited.descriptor))
  door.listener = listener
  door.descriptor = inherited?.descriptor ?? descriptorOf(listener)
  return door
}

const keyOf = ({ listen: { host, port } }: Stream): string => `${host}:${port}`
