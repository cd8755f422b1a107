import type { ClientContext, ClientSocket, Connection } from './client/connection.ts'
import type { Seats } from './seats.ts'
import type { Tally } from './tally.ts'
import type { Reception, Transport } from './transport.ts'
import { within } from './within.ts'

export interface ClientListener {
  readonly address: { host: string; port: number }
  readonly connectionCount: number
  /** Of the listening socket, for a successor to inherit. */
  readonly descriptor: number
  /**
   * Takes no further connection and resolves when all are gone: idle ones stay for one more request, as one may be on its way already,
   * and every answer from now on asks its client to come back on a new connection.
   */
  retire(): Promise<void>
  /** Closes the connections that are between two requests. */
  closeIdle(): void
  /** Takes no further connection and resolves when all are gone. */
  end(options: EndOptions): Promise<void>
}

export interface EndOptions {
  /** For requests in flight and tunnels. */
  graceMs: number
  /** Ends what outstays the grace, as politely as may be. */
  giveUp: () => void
  /** For clients to take note of that; then they are cut off. */
  lingerMs: number
}

export interface ListenOptions {
  host: string
  port: number
  /** Of a socket that listens there already. */
  inherited?: number | undefined
  transport: Transport
  seats: Seats
  /** Counts those for whom there was no room. */
  turnedAway: Tally
  context: Omit<ClientContext, 'left' | 'isEnding'>
  log: (line: string) => void
}

/**
 * Accepts the clients of the ingress at one address.
 *
 * @throws AppError `unavailable` when the address cannot be listened at, saying why and what to do.
 */
export function listenForClients({ host, port, inherited, transport, seats, turnedAway, context, log }: ListenOptions): ClientListener {
  /** With the seat that each has. */
  const connections = new Map<Connection, string>()
  let isEnding = false
  const waiting = new Set<() => void>()
  const shared: ClientContext = Object.freeze({
    ...context,
    get isEnding() {
      return isEnding
    },
    left: (connection: Connection) => {
      const seat = connections.get(connection)
      if (seat === undefined) return
      connections.delete(connection)
      seats.leave(seat)
      if (connections.size > 0) return
      for (const resume of waiting) resume()
      waiting.clear()
    },
  })
  const reception: Reception = {
    context: shared,
    admit(socket: ClientSocket, create) {
      const seat = seats.take(socket.remoteAddress)
      if (seat === undefined) {
        turnedAway.count(socket.remoteAddress)
        socket.terminate()
        return
      }
      socket.data = create()
      connections.set(socket.data, seat)
    },
    replace(from, to) {
      const seat = connections.get(from)
      if (seat === undefined) return
      connections.delete(from)
      connections.set(to, seat)
    },
    log,
  }
  const allGone = () =>
    new Promise<void>((resolve) => {
      if (connections.size === 0) resolve()
      else waiting.add(resolve)
    })
  const closeIdle = () => {
    for (const connection of connections.keys()) connection.closeWhenIdle()
  }
  const door = transport({ host, port, inherited }, reception)
  return {
    address: { host, port: door.port },
    get descriptor() {
      return door.descriptor
    },
    get connectionCount() {
      return connections.size
    },
    retire() {
      isEnding = true
      door.stop()
      for (const connection of connections.keys()) connection.announceEnd?.()
      return allGone()
    },
    closeIdle,
    async end({ graceMs, giveUp, lingerMs }) {
      isEnding = true
      door.stop()
      closeIdle()
      await within(graceMs, allGone())
      giveUp()
      await within(lingerMs, allGone())
      for (const connection of connections.keys()) connection.drop()
    },
  }
}
