import { Activator } from '../../../../server/ingress/activator/activator.ts'
import type { ClientContext, ClientSocket, Connection } from '../../../../server/ingress/exchange/client-context.ts'
import type { ClientSide } from '../../../../server/ingress/exchange/exchange.ts'
import type { RequestNote } from '../../../../server/ingress/exchange/request-note.ts'
import { Http2Connection } from '../../../../server/ingress/http2/connection.ts'
import { Deadlines } from '../../../../server/ingress/limits/deadlines.ts'
import { defaultIngressLimits, type IngressLimits } from '../../../../server/ingress/limits/limits.ts'
import { Unsent } from '../../../../server/ingress/limits/unsent.ts'
import { Router } from '../../../../server/ingress/serve/router.ts'
import { StaticFiles } from '../../../../server/ingress/static/files.ts'
import type { Route } from '../../../../server/ingress/tables/route-table.ts'
import { Targets } from '../../../../server/ingress/upstream/targets.ts'

/** What is kept of a request that is over. */
export interface Finished {
  method: string | undefined
  status: number
  isCutOff: boolean
  receivedBytes: number
  sentBytes: number
  protocol: string
}

/** The HTTP/2 side of the ingress with prior knowledge, on a port of its own, with a real router behind it. */
export interface Http2World {
  port: number
  finished: Finished[]
  logged: string[]
  connections: Set<Connection>
  targets: Targets
  unsent: Unsent
  publish(hosts: Record<string, Route>): void
  setEnding(): void
  close(): void
}

const TEST_TICK_MS = 10

export function startHttp2World(limits: Partial<IngressLimits> = {}): Http2World {
  const allLimits = { ...defaultIngressLimits, tickMs: TEST_TICK_MS, ...limits }
  const deadlines = new Deadlines(allLimits.tickMs)
  const targets = new Targets()
  const unsent = new Unsent(allLimits, () => false)
  const logged: string[] = []
  const finished: Finished[] = []
  const connections = new Set<Connection>()
  const log = (line: string) => void logged.push(line)
  const router = new Router({
    proxy: { limits: allLimits, deadlines, targets, log },
    files: new StaticFiles(log),
    activator: new Activator(allLimits, deadlines),
    isTrusted: () => false,
  })
  let isEnding = false
  const context: ClientContext = {
    limits: allLimits,
    deadlines,
    unsent,
    get isEnding() {
      return isEnding
    },
    isTrusted: () => false,
    answer: (head, client) => router.answer(head, client),
    left: (connection) => void connections.delete(connection),
    finished: (note, client) => void finished.push(copyOf(note, client)),
  }
  const listener = Bun.listen<Connection>({
    hostname: '127.0.0.1',
    port: 0,
    allowHalfOpen: true,
    socket: {
      open(socket) {
        socket.data = new Http2Connection(socket as ClientSocket, context, 'http')
        connections.add(socket.data)
      },
      data: (socket, bytes) => socket.data.received(bytes),
      drain: (socket) => socket.data.drained(),
      end: (socket) => socket.data.ended(),
      close: (socket) => socket.data.gone(),
      error: (socket, error) => {
        log(`failed: ${error.stack}`)
        socket.data.drop()
      },
    },
  })
  let version = 0
  return {
    port: listener.port,
    finished,
    logged,
    connections,
    targets,
    unsent,
    publish: (hosts) => router.apply({ version: ++version, hosts }),
    setEnding: () => {
      isEnding = true
    },
    close() {
      for (const connection of connections) connection.drop()
      listener.stop(true)
      targets.retireAll()
      deadlines.stop()
    },
  }
}

function copyOf({ head, status, isCutOff, receivedBytes, sentBytes }: RequestNote, { protocol }: ClientSide): Finished {
  return { method: head?.method, status, isCutOff, receivedBytes, sentBytes, protocol }
}
