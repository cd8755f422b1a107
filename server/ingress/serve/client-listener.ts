import type { ClientContext, Connection } from '../exchange/client-context.ts'
import type { ConnectionLimits } from '../limits/connection-limits.ts'
import type { ReportedCount } from '../limits/reported-count.ts'
import { Clients, type EndOptions } from './clients.ts'
import type { Transport } from './transport.ts'

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

export interface ListenOptions {
  host: string
  port: number
  /** Of a socket that listens there already. */
  inherited?: number | undefined
  transport: Transport
  connectionLimits: ConnectionLimits
  /** Counts those for whom there was no room. */
  turnedAway: ReportedCount
  context: Omit<ClientContext, 'left' | 'isEnding'>
  log: (line: string) => void
}

/**
 * Accepts the clients of the ingress at one address.
 *
 * @throws AppError `unavailable` when the address cannot be listened at, saying why and what to do.
 */
export function listenForClients(options: ListenOptions): ClientListener {
  const { host, port, inherited, transport, log } = options
  const clients = new Clients(options)
  const context: ClientContext = Object.freeze({
    ...options.context,
    get isEnding() {
      return clients.isEnding
    },
    left: (connection: Connection) => clients.leave(connection),
  })
  const listener = transport(
    { host, port, inherited },
    {
      context,
      admit: (socket, create) => clients.admit(socket, create),
      replace: (from, to) => clients.replace(from, to),
      log,
    },
  )
  return {
    address: { host, port: listener.port },
    get descriptor() {
      return listener.descriptor
    },
    get connectionCount() {
      return clients.count
    },
    retire() {
      listener.stop()
      return clients.retire()
    },
    closeIdle: () => clients.closeIdle(),
    end(how) {
      listener.stop()
      return clients.end(how)
    },
  }
}
