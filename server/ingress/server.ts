import { AppError } from '../../shared/error.ts'
import { listenProblem } from '../process/listen-problem.ts'
import { ClientConnection, type ClientContext, type ClientSocket, type Connection } from './client/connection.ts'

export interface ClientListener {
  readonly address: { host: string; port: number }
  readonly connectionCount: number
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
  context: Omit<ClientContext, 'left' | 'isEnding'>
  log: (line: string) => void
}

/**
 * Accepts the clients of the ingress.
 *
 * @throws AppError `unavailable` when the address cannot be listened at, saying why and what to do.
 */
export function listenForClients({ host, port, context, log }: ListenOptions): ClientListener {
  const connections = new Set<Connection>()
  let isEnding = false
  let allLeft: (() => void) | undefined
  const shared: ClientContext = Object.freeze({
    ...context,
    get isEnding() {
      return isEnding
    },
    left: (connection: Connection) => {
      connections.delete(connection)
      if (connections.size === 0) allLeft?.()
    },
  })
  const accept = (socket: ClientSocket) => {
    if (connections.size >= context.limits.maxConnections) return void socket.terminate()
    socket.data = new ClientConnection(socket, shared, 'http')
    connections.add(socket.data)
  }
  const allGone = () =>
    new Promise<void>((resolve) => {
      allLeft = resolve
      if (connections.size === 0) resolve()
    })
  const listener = listen(host, port, {
    open: accept,
    data: (socket, bytes) => socket.data?.received(bytes),
    drain: (socket) => socket.data?.drained(),
    end: (socket) => socket.data?.ended(),
    close: (socket) => socket.data?.gone(),
    error: (socket, error) => {
      log(`A connection failed: ${error.stack ?? error.message}`)
      socket.data?.drop()
    },
  })
  return {
    address: { host, port: listener.port },
    get connectionCount() {
      return connections.size
    },
    async end({ graceMs, giveUp, lingerMs }) {
      isEnding = true
      listener.stop()
      for (const connection of connections) connection.closeWhenIdle()
      await within(graceMs, allGone())
      giveUp()
      await within(lingerMs, allGone())
      for (const connection of connections) connection.drop()
    },
  }
}

/** Waits for it, but no longer than this. */
async function within(ms: number, event: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, ms)
  await Promise.race([event, late.promise])
  clearTimeout(timer)
}

function listen(host: string, port: number, socket: Bun.SocketHandler<Connection>): Bun.TCPSocketListener<Connection> {
  try {
    return Bun.listen<Connection>({ hostname: host, port, allowHalfOpen: true, socket })
  } catch (cause) {
    throw new AppError('unavailable', `The ingress cannot listen at ${host}:${port}: ${listenProblem(cause, '--ingress')}`, { cause })
  }
}
