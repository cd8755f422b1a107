import { AppError } from '../../../shared/error.ts'
import { listenProblem } from '../../platform/process/listen-problem.ts'
import type { ClientContext, ClientSocket, Connection } from '../exchange/client-context.ts'
import { ClientConnection } from '../http1/connection.ts'

/** Where clients are to be accepted. */
export interface Place {
  host: string
  port: number
  /** Of a socket that listens there already. */
  inherited: number | undefined
}

/** Takes in what a transport accepts. */
export interface Reception {
  readonly context: ClientContext
  /** Gives a new client what `create` makes, or ends it when there is no room. */
  admit(socket: ClientSocket, create: () => Connection): void
  /** The same client goes on as another connection. */
  replace(from: Connection, to: Connection): void
  log(line: string): void
}

/** An open listening socket. */
export interface OpenListener {
  readonly port: number
  readonly descriptor: number
  /** Accepts no more; the connections there are go on. */
  stop(): void
}

/** How clients come in: it accepts them and gives them to the reception. @throws AppError `unavailable` when it cannot listen there. */
export type Transport = (place: Place, reception: Reception) => OpenListener

/** HTTP/1.1 without TLS. */
export const plainTransport: Transport = ({ host, port, inherited }, reception) => {
  const socket: Bun.SocketHandler<Connection> = {
    open: (client) => reception.admit(client, () => new ClientConnection(client, reception.context, 'http')),
    ...connectionEvents(reception),
  }
  const options = { hostname: host, port, allowHalfOpen: true, socket }
  const listener = orUnavailable({ host, port }, '--ingress', () =>
    Bun.listen<Connection>(inherited === undefined ? options : inheriting(options, inherited)),
  )
  return {
    port: inherited === undefined ? listener.port : port,
    descriptor: inherited ?? descriptorOf(listener),
    stop: () => listener.stop(),
  }
}

/** What a socket tells its connection. */
export const connectionEvents = ({ log }: Pick<Reception, 'log'>) =>
  ({
    data: (socket, bytes) => socket.data?.received(bytes),
    drain: (socket) => socket.data?.drained(),
    end: (socket) => socket.data?.ended(),
    close: (socket) => socket.data?.gone(),
    error: (socket, error) => {
      log(`A connection failed: ${error.stack ?? error.message}`)
      socket.data?.drop()
    },
  }) satisfies Bun.SocketHandler<Connection>

/** @throws AppError `unavailable` saying why it cannot be listened there; `flag` sets the address. */
export function orUnavailable<T>({ host, port }: { host: string; port: number }, flag: string, listen: () => T): T {
  try {
    return listen()
  } catch (cause) {
    throw new AppError('unavailable', `The ingress cannot listen at ${host}:${port}: ${listenProblem(cause, flag)}`, { cause })
  }
}

/** Of Bun's types, `listen` knows neither the option `fd` nor the property: what they do is held by a test. */
export const inheriting = <T extends object>(options: T, fd: number): T => ({ ...options, hostname: undefined, port: undefined, fd })

export function descriptorOf(listener: object): number {
  if ('fd' in listener && typeof listener.fd === 'number') return listener.fd
  throw new AppError('internal', 'The listening socket has no descriptor that could be handed over.')
}
