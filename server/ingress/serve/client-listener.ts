import type { ClientContext, Connection } from '../exchange/client-context.ts'
import type { ConnectionLimits } from '../limits/connection-limits.ts'
import type { ReportedCount } from '../limits/reported-count.ts'
import { Clients, type EndOptions } from './clients.ts'
import type { Transport } from './transport.ts'

export interface ClientListener {
  readonly address: { host: string; port: number }
  readonly connectionCount: number
  readonly descriptor: number
  /** After a hand-over its idle clients are left alone for as long as those that are busy. */
  readonly isPatient: boolean
  /** Takes no further connection. Idle ones stay for one more request, as one may be on its way; every answer asks for a new connection. */
  retire(): Promise<void>
  closeIdle(): void
  end(options: EndOptions): Promise<void>
}

export interface ListenOptions {
  host: string
  port: number
  inherited?: number | undefined
  transport: Transport
  connectionLimits: ConnectionLimits
  turnedAway: ReportedCount
  context: Omit<ClientContext, 'left' | 'isEnding'>
  isPatient?: boolean
  log: (line: string) => void
}

/** @throws AppError `unavailable` when the address cannot be listened at, saying why and what to do. */
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
    isPatient: options.isPatient ?? false,
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
