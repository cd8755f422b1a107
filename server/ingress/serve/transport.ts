import { AppError } from '../../../shared/error.ts'
import { listenProblem } from '../../platform/process/listen-problem.ts'
import type { ClientContext, ClientSocket, Connection } from '../exchange/client-context.ts'
import { ClientConnection } from '../http1/connection.ts'

export interface Place {
  host: string
  port: number
  inherited: number | undefined
}

export interface Reception {
  readonly context: ClientContext
  admit(socket: ClientSocket, create: () => Connection): void
  replace(from: Connection, to: Connection): void
  log(line: string): void
}

export interface OpenListener {
  readonly port: number
  readonly descriptor: number
  stop(): void
}

/** How clients come in: it accepts them and gives them to the reception. @throws AppError `unavailable` when it cannot listen there. */
export type Transport = (place: Place, reception: Reception) => OpenListener

export const plainTransport: Transport = plainTransportOf(
  '--ingress',
  (client, { context }) => new ClientConnection(client, context, 'http'),
)

/** Clients come in in clear, each as what `create` makes of it; `setting` is what sets the address. */
export function plainTransportOf(setting: string, create: (client: ClientSocket, reception: Reception) => Connection): Transport {
  return ({ host, port, inherited }, reception) => {
    const socket: Bun.SocketHandler<Connection> = {
      open: (client) => reception.admit(client, () => create(client, reception)),
      ...connectionEvents(reception),
    }
    const options = { hostname: host, port, allowHalfOpen: true, socket }
    const listener = orUnavailable({ host, port }, setting, () =>
      Bun.listen<Connection>(inherited === undefined ? options : inheriting(options, inherited)),
    )
    return {
      port: inherited === undefined ? listener.port : port,
      descriptor: inherited ?? descriptorOf(listener),
      stop: () => listener.stop(),
    }
  }
}

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

export function orUnavailable<T>({ host, port }: { host: string; port: number }, flag: string, listen: () => T): T {
  try {
    return listen()
  } catch (cause) {
    throw new AppError('unavailable', `The ingress cannot listen at ${host}:${port}: ${listenProblem(cause, flag)}`, { cause })
  }
}

/** Bun's types know neither the option `fd` of `listen` nor the property of that name; a test holds what they do. */
export const inheriting = <T extends object>(options: T, fd: number): T => ({ ...options, hostname: undefined, port: undefined, fd })

export function descriptorOf(listener: object): number {
  if ('fd' in listener && typeof listener.fd === 'number') return listener.fd
  throw new AppError('internal', 'The listening socket has no descriptor that could be handed over.')
}
