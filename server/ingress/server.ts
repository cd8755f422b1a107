import { AppError } from '../../shared/error.ts'
import { listenProblem } from '../process/listen-problem.ts'
import { ClientConnection, type ClientContext, type ClientSocket, type Connection } from './client/connection.ts'
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
  context: Omit<ClientContext, 'left' | 'isEnding'>
  log: (line: string) => void
}

/**
 * Accepts the clients of the ingress.
 *
 * @throws AppError `unavailable` when the address cannot be listened at, saying why and what to do.
 */
export function listenForClients({ host, port, inherited, context, log }: ListenOptions): ClientListener {
  const connections = new Set<Connection>()
  let isEnding = false
  const waiting = new Set<() => void>()
  const shared: ClientContext = Object.freeze({
    ...context,
    get isEnding() {
      return isEnding
    },
    left: (connection: Connection) => {
      connections.delete(connection)
      if (connections.size > 0) return
      for (const resume of waiting) resume()
      waiting.clear()
    },
  })
  const accept = (socket: ClientSocket) => {
    if (connections.size >= context.limits.maxConnections) return void socket.terminate()
    socket.data = new ClientConnection(socket, shared, 'http')
    connections.add(socket.data)
  }
  const allGone = () =>
    new Promise<void>((resolve) => {
      if (connections.size === 0) resolve()
      else waiting.add(resolve)
    })
  const closeIdle = () => {
    for (const connection of connections) connection.closeWhenIdle()
  }
  const listener = listen(
    { host, port, inherited },
    {
      open: accept,
      data: (socket, bytes) => socket.data?.received(bytes),
      drain: (socket) => socket.data?.drained(),
      end: (socket) => socket.data?.ended(),
      close: (socket) => socket.data?.gone(),
      error: (socket, error) => {
        log(`A connection failed: ${error.stack ?? error.message}`)
        socket.data?.drop()
      },
    },
  )
  return {
    address: { host, port: inherited === undefined ? listener.port : port },
    descriptor: inherited ?? descriptorOf(listener),
    get connectionCount() {
      return connections.size
    },
    retire() {
      isEnding = true
      listener.stop()
      for (const connection of connections) connection.announceEnd?.()
      return allGone()
    },
    closeIdle,
    async end({ graceMs, giveUp, lingerMs }) {
      isEnding = true
      listener.stop()
      closeIdle()
      await within(graceMs, allGone())
      giveUp()
      await within(lingerMs, allGone())
      for (const connection of connections) connection.drop()
    },
  }
}

interface Place {
  host: string
  port: number
  inherited: number | undefined
}

/** Of Bun's types, `listen` knows neither the option `fd` nor the property: what they do is held by a test. */
function listen({ host, port, inherited }: Place, socket: Bun.SocketHandler<Connection>): Bun.TCPSocketListener<Connection> {
  const options = { hostname: host, port, allowHalfOpen: true, socket }
  try {
    return Bun.listen<Connection>(inherited === undefined ? options : inheriting(options, inherited))
  } catch (cause) {
    throw new AppError('unavailable', `The ingress cannot listen at ${host}:${port}: ${listenProblem(cause, '--ingress')}`, { cause })
  }
}

const inheriting = <T extends object>(options: T, fd: number): T => ({ ...options, hostname: undefined, port: undefined, fd })

function descriptorOf(listener: object): number {
  if ('fd' in listener && typeof listener.fd === 'number') return listener.fd
  throw new AppError('internal', 'The listening socket has no descriptor that could be handed over.')
}
