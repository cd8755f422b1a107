import { AppError } from '../../../shared/error.ts'
import { routeChanges } from '../tables/route-changes.ts'
import type { RouteTable } from '../tables/route-table.ts'
import { newestOf, otherSocketPaths } from './names.ts'
import { controlPaths, TAKES_CHANGES_HEADER } from './protocol.ts'
import { callSocket } from './socket-call.ts'

const TIMEOUT_MS = 10_000
const OTHERS_TIMEOUT_MS = 5_000

export interface Publishing {
  publishRoutes(table: RouteTable, base: RouteTable | undefined): Promise<void>
  publishWhole(path: string, table: unknown): Promise<void>
}

/** Publishes tables to whoever has the well-known name, which must take them, and to predecessors, which keep nobody waiting for long. */
export function createPublishing(controlSocketPath: string, publisher: string): Publishing {
  let takesChanges = false

  const send = (method: string, path: string, body: unknown) =>
    callSocket({ socketPath: controlSocketPath, publisher, method, path, body, timeoutMs: TIMEOUT_MS })

  async function sendRoutes(table: RouteTable): Promise<void> {
    const answer = await send('PUT', controlPaths.routes, table)
    takesChanges = answer.headers.has(TAKES_CHANGES_HEADER)
  }

  async function sendRouteChanges(table: RouteTable, base: RouteTable): Promise<void> {
    try {
      await send('PATCH', controlPaths.routes, routeChanges(base, table))
    } catch (error) {
      if (!hasOtherBase(error)) throw error
      await sendRoutes(table)
    }
  }

  async function publishTo(path: string, table: unknown, sendToNewest: () => Promise<unknown>): Promise<void> {
    const others = new Set<string>()
    const put = (socketPath: string) =>
      callSocket({ socketPath, publisher, method: 'PUT', path, body: table, timeoutMs: OTHERS_TIMEOUT_MS })
    let newest: string
    do {
      newest = newestOf(controlSocketPath)
      await sendToNewest()
      for (const socketPath of otherSocketPaths(controlSocketPath)) others.add(socketPath)
      await Promise.all([...others].map((socketPath) => put(socketPath).catch(() => undefined)))
    } while (newestOf(controlSocketPath) !== newest)
  }

  return {
    publishRoutes: (table, base) =>
      publishTo(controlPaths.routes, table, () =>
        base === undefined || !takesChanges ? sendRoutes(table) : sendRouteChanges(table, base),
      ),
    publishWhole: (path, table) => publishTo(path, table, () => send('PUT', path, table)),
  }
}

/** Another ingress has come in the place of the one that was published to, maybe one that does not know of changes. */
const hasOtherBase = (error: unknown): boolean => error instanceof AppError && (error.code === 'conflict' || error.code === 'not_found')
