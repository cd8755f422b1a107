import type { HeldListener, Inheritance } from '../inherited.ts'
import type { IngressLimits } from '../limits.ts'
import type { Stream } from '../route-table.ts'
import { descriptorOf, inheriting } from '../transport.ts'
import { PipedConnection, pipeEvents } from './piped-connection.ts'

/** Plain TCP that is led to instances, each service at an address of its own. */
export interface Streams {
  /** Makes these all there are, for new connections; those that are open go on. */
  apply(streams: readonly Stream[]): void
  /** Connections that are led to an instance. */
  countOf(instanceId: string): number
  /** Cuts them off. */
  cut(instanceId: string): void
  /** For a successor. */
  held(): HeldListener[]
  /** Accepts no more, and resolves when there are no connections left. */
  retire(): Promise<void>
  /** Accepts no more and cuts off what there is. */
  stop(): void
}

export interface StreamsOptions {
  inheritance: Inheritance
  limits: Pick<IngressLimits, 'connectTimeoutMs' | 'maxConnections'>
  log: (line: string) => void
}

interface Door {
  stream: Stream
  listener: { stop(): void }
  descriptor: number
  /** Whose turn it is. */
  turn: number
}

const RETRY_MS = 1000

export function createStreams(options: StreamsOptions): Streams {
  const doors = new Map<string, Door>()
  const connections = new Set<PipedConnection>()
  let wanted: readonly Stream[] = []
  let retry: ReturnType<typeof setTimeout> | undefined
  let isRetired = false
  const allGone = Promise.withResolvers<void>()

  function accept(door: Door, client: Bun.Socket<PipedConnection>): void {
    const { targets } = door.stream
    const first = door.turn++ % Math.max(1, targets.length)
    if (connections.size >= options.limits.maxConnections) return void client.terminate()
    client.data = new PipedConnection(client, {
      targets: [...targets.slice(first), ...targets.slice(0, first)],
      connectTimeoutMs: options.limits.connectTimeoutMs,
      gone: (connection) => {
        connections.delete(connection)
        tellWhenGone()
      },
    })
    connections.add(client.data)
  }

  function openMissing(): void {
    for (const stream of wanted.filter((one) => !doors.has(keyOf(one)))) {
      try {
        doors.set(keyOf(stream), openDoor(stream, { inheritance: options.inheritance, accept }))
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        options.log(`Services cannot be reached at ${keyOf(stream)}, which is tried again: ${reason}`)
        retry ??= setTimeout(tryAgain, RETRY_MS)
      }
    }
  }

  function tryAgain(): void {
    retry = undefined
    if (!isRetired) openMissing()
  }

  function close(key: string): void {
    doors.get(key)?.listener.stop()
    doors.delete(key)
  }

  function tellWhenGone(): void {
    if (isRetired && connections.size === 0) allGone.resolve()
  }

  function retire(): Promise<void> {
    isRetired = true
    clearTimeout(retry)
    for (const key of [...doors.keys()]) close(key)
    tellWhenGone()
    return allGone.promise
  }

  return {
    apply(streams) {
      if (isRetired) return
      wanted = streams
      const keys = new Set(streams.map(keyOf))
      for (const key of [...doors.keys()]) if (!keys.has(key)) close(key)
      for (const stream of streams) {
        const door = doors.get(keyOf(stream))
        if (door !== undefined) door.stream = stream
      }
      openMissing()
    },
    countOf: (instanceId) => [...connections].filter((one) => one.instanceId === instanceId).length,
    cut(instanceId) {
      for (const one of [...connections]) if (one.instanceId === instanceId) one.cut()
    },
    held: () => [...doors.values()].map(({ stream, descriptor }) => ({ address: stream.listen, descriptor })),
    retire,
    stop() {
      void retire()
      for (const one of [...connections]) one.cut()
    },
  }
}

interface Opening {
  inheritance: Inheritance
  accept(door: Door, client: Bun.Socket<PipedConnection>): void
}

function openDoor(stream: Stream, { inheritance, accept }: Opening): Door {
  const { host, port } = stream.listen
  const door: Door = { stream, listener: { stop() {} }, descriptor: -1, turn: 0 }
  const socket: Bun.SocketHandler<PipedConnection> = { ...pipeEvents, open: (client) => accept(door, client) }
  const where = { hostname: host, port, allowHalfOpen: true, socket }
  const inherited = inheritance.take({ host, port })
  const listener = Bun.listen<PipedConnection>(inherited === undefined ? where : inheriting(where, inherited.descriptor))
  door.listener = listener
  door.descriptor = inherited?.descriptor ?? descriptorOf(listener)
  return door
}

const keyOf = ({ listen: { host, port } }: Stream): string => `${host}:${port}`
