import type { CertificateTable } from '../tables/certificate-table.ts'
import type { RouteTable } from '../tables/route-table.ts'
import { type KnownCounts, TrafficCounts } from '../traffic/counts.ts'
import { ownSocketPaths } from './names.ts'
import { controlPaths, DrainState, HELD_PATIENCE_MS, HeldServicesAnswer, IngressStatus, type Successor } from './protocol.ts'
import { createPublishing } from './publishing.ts'
import { callSocket, read, unlessGone } from './socket-call.ts'

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
  publish(table: RouteTable, base?: RouteTable | undefined): Promise<void>
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

export function createIngressClient(controlSocketPath: string): IngressClient {
  const publisher = crypto.randomUUID()
  const publishing = createPublishing(controlSocketPath, publisher)
  const call = (method: string, path: string, body?: unknown, timeoutMs = CALL_TIMEOUT_MS) =>
    callSocket({ socketPath: controlSocketPath, publisher, method, path, body, timeoutMs })

  const callAll = async (method: string, path: string): Promise<Response[]> => {
    const ask = (socketPath: string) => callSocket({ socketPath, publisher, method, path, body: undefined, timeoutMs: CALL_TIMEOUT_MS })
    const answers = await Promise.all(ownSocketPaths(controlSocketPath).map((socketPath) => ask(socketPath).catch(unlessGone)))
    const given = answers.filter((answer) => answer !== undefined)
    return given.length > 0 ? given : [await call(method, path)]
  }
  const commandAll = async (method: string, path: string) => void (await callAll(method, path))

  return {
    publish: publishing.publishRoutes,
    publishCertificates: (table) => publishing.publishWhole(controlPaths.certificates, table),
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

const sumOf = (states: readonly DrainState[]): DrainState => ({
  inFlight: states.reduce((sum, { inFlight }) => sum + inFlight, 0),
  tunnels: states.reduce((sum, { tunnels }) => sum + tunnels, 0),
})
