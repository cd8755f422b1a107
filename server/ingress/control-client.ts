import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { AppError, type ErrorCode, errorStatus } from '../../shared/error.ts'
import type { CertificateTable } from './certificate-table.ts'
import { ControlError, controlPaths, DrainState, IngressStatus, PUBLISHER_HEADER } from './control.ts'
import type { RouteTable } from './route-table.ts'
import { type KnownCounts, TrafficCounts } from './traffic/counts.ts'

/** The control plane's side of the ingress. Every call fails with AppError `unavailable` when no ingress answers. */
export interface IngressClient {
  /**
   * Makes the ingress serve this table, whole and at once; it is on disk when this returns.
   *
   * @throws AppError `conflict` when this client has published a newer version already, `validation_failed` for a table that is none.
   */
  publish(table: RouteTable): Promise<void>
  /** The same for the certificates; keys in it are sealed. @throws AppError as `publish` does. */
  publishCertificates(table: CertificateTable): Promise<void>
  /** What an instance is still busy with, also after it has left the table; zeros for an unknown one. */
  drainState(instanceId: string): Promise<DrainState>
  /** Ends its tunnels; WebSocket clients are told 1001, come again. */
  closeTunnels(instanceId: string): Promise<void>
  /** Ends its requests: 503 where no answer has begun, else the connection is cut. */
  abortRequests(instanceId: string): Promise<void>
  status(): Promise<IngressStatus>
  /** What has been counted of requests: all of it, or the entries that have changed since what is known already. */
  counters(known?: KnownCounts): Promise<TrafficCounts>
  /** Stops listening at once and ends when the requests in flight are answered. */
  shutdown(): Promise<void>
}

const CALL_TIMEOUT_MS = 10_000

export function createIngressClient(controlSocketPath: string): IngressClient {
  const publisher = crypto.randomUUID()
  const call = async (method: string, path: string, body?: unknown): Promise<Response> => {
    const response = await fetch(`http://ingress${path}`, {
      unix: controlSocketPath,
      method,
      headers: { [PUBLISHER_HEADER]: publisher },
      // One connection a call: a pooled one may belong to an ingress that has been replaced since.
      keepalive: false,
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((cause) => {
      throw new AppError('unavailable', 'The ingress does not answer on its control socket.', { cause })
    })
    if (!response.ok) throw await errorOf(response)
    return response
  }
  const command = async (method: string, path: string, body?: unknown) => void (await call(method, path, body))
  return {
    publish: (table) => command('PUT', controlPaths.routes, table),
    publishCertificates: (table) => command('PUT', controlPaths.certificates, table),
    drainState: async (instanceId) => read(DrainState, await call('GET', controlPaths.drainState(instanceId))),
    closeTunnels: (instanceId) => command('POST', controlPaths.closeTunnels(instanceId)),
    abortRequests: (instanceId) => command('POST', controlPaths.abortRequests(instanceId)),
    status: async () => read(IngressStatus, await call('GET', controlPaths.status)),
    counters: async (known) =>
      read(TrafficCounts, await call('GET', known === undefined ? controlPaths.counters : controlPaths.countersSince(known))),
    shutdown: () => command('POST', controlPaths.shutdown),
  }
}

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
