import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { AppError, type ErrorCode, errorStatus } from '../../../shared/error.ts'
import type { CertificateTable } from '../tables/certificate-table.ts'
import { routeChanges } from '../tables/route-changes.ts'
import type { RouteTable } from '../tables/route-table.ts'
import { type KnownCounts, TrafficCounts } from '../traffic/counts.ts'
import { newestOf, otherSocketPaths, ownSocketPaths } from './names.ts'
import {
  ControlError,
  controlPaths,
  DrainState,
  HELD_PATIENCE_MS,
  HeldServicesAnswer,
  IngressStatus,
  PUBLISHER_HEADER,
  type Successor,
  TAKES_CHANGES_HEADER,
} from './protocol.ts'

/**
 * The control plane's side of the ingress. During a hand-over there are several: whoever has the well-known name is meant, and what
 * concerns the requests in flight is asked of all of them. Every call fails with AppError `unavailable` when no ingress answers.
 */
export interface IngressClient {
  /**
   * Makes the ingress serve this table, at once; it is on disk when this returns. Predecessors that still have clients follow it, too.
   * Where `base`, the table that this client published last, is given, only what has changed is sent, if the ingress takes that.
   *
   * @throws AppError `conflict` when this client has published a newer version already, `validation_failed` for a table that is none.
   */
  publish(table: RouteTable, base?: RouteTable): Promise<void>
  publishCertificates(table: CertificateTable): Promise<void>
  /** How busy an instance is in all ingresses, also after it has left the table; zeros for an unknown one. */
  drainState(instanceId: string): Promise<DrainState>
  closeTunnels(instanceId: string): Promise<void>
  /** Requests are answered with 503 where no answer has begun; else the connection is cut. */
  abortRequests(instanceId: string): Promise<void>
  status(): Promise<IngressStatus>
  /** Services that requests wait for since a revision of this one ingress: a long poll of half a minute. Without a revision all, at once. */
  heldServices(known: number | undefined, signal: AbortSignal): Promise<HeldServicesAnswer>
  /** What has been counted of requests: all of it, or the entries that have changed since what is known already. */
  counters(known?: KnownCounts): Promise<TrafficCounts>
  /**
   * Has the ingress start its successor with its listening sockets, so that no connection is refused, and returns once that one serves.
   *
   * @throws AppError `unavailable` when the successor did not come to serve: the ingress goes on. `not_found` when it is of a version
   * that does not know how.
   */
  handOver(successor: Successor): Promise<void>
  shutdown(): Promise<void>
}

const CALL_TIMEOUT_MS = 10_000
const HAND_OVER_TIMEOUT_MS = 40_000
const OTHERS_TIMEOUT_MS = 5_000

export function createIngressClient(controlSocketPath: string): IngressClient {
  const publisher = crypto.randomUUID()
  const call = (method: string, path: string, body?: unknown, timeoutMs = CALL_TIMEOUT_MS) =>
    callSocket({ socketPath: controlSocketPath, publisher, method, path, body, timeoutMs })
  const command = async (method: string, path: string, body?: unknown) => void (await call(method, path, body))

  const callAll = async (method: string, path: string): Promise<Response[]> => {
    const ask = (socketPath: string) => callSocket({ socketPath, publisher, method, path, body: undefined, timeoutMs: CALL_TIMEOUT_MS })
    const answers = await Promise.all(ownSocketPaths(controlSocketPath).map((socketPath) => ask(socketPath).catch(unlessGone)))
    const given = answers.filter((answer) => answer !== undefined)
    return given.length > 0 ? given : [await call(method, path)]
  }
  const commandAll = async (method: string, path: string) => void (await callAll(method, path))

  let takesChanges = false
  const putRoutes = async (table: RouteTable) => {
    const answer = await call('PUT', controlPaths.routes, table)
    takesChanges = answer.headers.has(TAKES_CHANGES_HEADER)
  }
  const publishRoutes = async (table: RouteTable, base: RouteTable | undefined) => {
    if (base === undefined || !takesChanges) return putRoutes(table)
    await command('PATCH', controlPaths.routes, routeChanges(base, table)).catch((error) => {
      if (hasOtherBase(error)) return putRoutes(table)
      throw error
    })
  }

  const publishTo = async (path: string, table: unknown, publishToNewest: () => Promise<void> = () => command('PUT', path, table)) => {
    const others = new Set<string>()
    let published: string
    do {
      published = newestOf(controlSocketPath)
      await publishToNewest()
      for (const socketPath of otherSocketPaths(controlSocketPath)) others.add(socketPath)
      const put = (socketPath: string) =>
        callSocket({ socketPath, publisher, method: 'PUT', path, body: table, timeoutMs: OTHERS_TIMEOUT_MS })
      await Promise.all([...others].map((socketPath) => put(socketPath).catch(() => undefined)))
    } while (newestOf(controlSocketPath) !== published)
  }
  return {
    publish: (table, base) => publishTo(controlPaths.routes, table, () => publishRoutes(table, base)),
    publishCertificates: (table) => publishTo(controlPaths.certificates, table),
    drainState: async (instanceId) => {
      const answers = await callAll('GET', controlPaths.drainState(instanceId))
      return sumOf(await Promise.all(answers.map((answer) => read(DrainState, answer))))
    },
    closeTunnels: (instanceId) => commandAll('POST', controlPaths.closeTunnels(instanceId)),
    abortRequests: (instanceId) => commandAll('POST', controlPaths.abortRequests(instanceId)),
    status: async () => read(IngressStatus, await call('GET', controlPaths.status)),
    heldServices: async (known, signal) => {
      const path = known === undefined ? controlPaths.heldServices : controlPaths.heldServicesSince(known)
      const timeoutMs = HELD_PATIENCE_MS + CALL_TIMEOUT_MS
      return read(
        HeldServicesAnswer,
        await callSocket({ socketPath: controlSocketPath, publisher, method: 'GET', path, body: undefined, timeoutMs, signal }),
      )
    },
    counters: async (known) =>
      read(TrafficCounts, await call('GET', known === undefined ? controlPaths.counters : controlPaths.countersSince(known))),
    handOver: async (successor) => void (await call('POST', controlPaths.handOver, successor, HAND_OVER_TIMEOUT_MS)),
    shutdown: () => commandAll('POST', controlPaths.shutdown),
  }
}

interface SocketCall {
  socketPath: string
  publisher: string
  method: string
  path: string
  body: unknown
  timeoutMs: number
  signal?: AbortSignal
}

async function callSocket({ socketPath, publisher, method, path, body, timeoutMs, signal }: SocketCall): Promise<Response> {
  const response = await fetch(`http://ingress${path}`, {
    unix: socketPath,
    method,
    headers: { [PUBLISHER_HEADER]: publisher },
    // One connection a call: a pooled one may belong to an ingress that has been replaced since.
    keepalive: false,
    signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])]),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((cause) => {
    throw new AppError('unavailable', 'The ingress does not answer on its control socket.', { cause })
  })
  if (!response.ok) throw await errorOf(response)
  return response
}

const goneCodes = ['ENOENT', 'ECONNREFUSED', 'ECONNRESET']

/** An ingress that has ended has nothing in flight. */
function unlessGone(error: unknown): undefined {
  const cause = error instanceof AppError ? error.cause : undefined
  if (cause instanceof Error && 'code' in cause && goneCodes.includes(String(cause.code))) return undefined
  throw error
}

/** Another ingress has come in the place of the one that was published to, maybe one that does not know of changes. */
const hasOtherBase = (error: unknown): boolean => error instanceof AppError && (error.code === 'conflict' || error.code === 'not_found')

const sumOf = (states: readonly DrainState[]): DrainState => ({
  inFlight: states.reduce((sum, { inFlight }) => sum + inFlight, 0),
  tunnels: states.reduce((sum, { tunnels }) => sum + tunnels, 0),
})

async function read<T extends TSchema>(schema: T, response: Response): Promise<Static<T>> {
  const value: unknown = await response.json()
  if (Value.Check(schema, value)) return value
  throw new AppError('internal', `The ingress gave an answer of an unknown shape to ${response.url}`)
}

async function errorOf(response: Response): Promise<AppError> {
  const value: unknown = await response.json().catch(() => undefined)
  if (!Value.Check(ControlError, value)) return new AppError('internal', `The ingress answered ${response.status}`)
  return new AppError(isErrorCode(value.code) ? value.code : 'internal', value.message)
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorStatus, code)
}
