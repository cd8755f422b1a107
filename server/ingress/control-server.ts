import { chmodSync, renameSync, rmSync } from 'node:fs'
import { AppError, errorStatus } from '../../shared/error.ts'
import { controlPaths, type DrainState, type IngressStatus, PUBLISHER_HEADER } from './control.ts'
import type { KnownCounts, TrafficCounts } from './traffic/counts.ts'

export interface ControlledIngress {
  status(): IngressStatus
  /** What has been counted, less what the reader knows already. */
  counters(known: KnownCounts | undefined): TrafficCounts
  /** Applies and saves a snapshot as received. */
  publish(publisher: string, table: unknown): Promise<void>
  drainState(instanceId: string): DrainState
  closeTunnels(instanceId: string): void
  abortRequests(instanceId: string): void
  /** Begins to end; the caller is answered first. */
  shutdown(): void
}

const OWNER_ONLY = 0o600
/** A table of 10,000 routes has some 3 MB. */
const MAX_SNAPSHOT_BYTES = 256 * 1024 * 1024

/**
 * Serves the control socket. It gets its name only when nobody but our own user may connect to it, in place of a predecessor's.
 * Stopping takes the name away at once and lets the calls under way finish.
 */
export function serveControl(socketPath: string, ingress: ControlledIngress): { stop(): Promise<void> } {
  const unnamedPath = `${socketPath}.new`
  rmSync(unnamedPath, { force: true })
  const server = serveAt(unnamedPath, ingress)
  chmodSync(unnamedPath, OWNER_ONLY)
  renameSync(unnamedPath, socketPath)
  return {
    stop: () => {
      rmSync(socketPath, { force: true })
      return server.stop()
    },
  }
}

function serveAt(unix: string, ingress: ControlledIngress): Bun.Server<undefined> {
  try {
    return Bun.serve({
      unix,
      maxRequestBodySize: MAX_SNAPSHOT_BYTES,
      fetch: (request) => answer(ingress, request),
      error: (error) => failure(error),
    })
  } catch (cause) {
    // The kernel allows 107 bytes for the path of a socket.
    throw new AppError('unavailable', `The control socket cannot be made: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}

async function answer(ingress: ControlledIngress, request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url)
  const [, area, id = '', action] = pathname.split('/')
  const call = `${request.method} ${area === 'instances' ? `instances/${action}` : pathname}`
  const instanceId = decodeURIComponent(id)
  switch (call) {
    case `GET ${controlPaths.status}`:
      return Response.json(ingress.status())
    case `GET ${controlPaths.counters}`:
      return Response.json(ingress.counters(knownCounts(searchParams)))
    case `PUT ${controlPaths.routes}`:
      await ingress.publish(request.headers.get(PUBLISHER_HEADER) ?? '', await request.json())
      return done()
    case 'GET instances/drain-state':
      return Response.json(ingress.drainState(instanceId))
    case 'POST instances/close-tunnels':
      ingress.closeTunnels(instanceId)
      return done()
    case 'POST instances/abort-requests':
      ingress.abortRequests(instanceId)
      return done()
    case `POST ${controlPaths.shutdown}`:
      ingress.shutdown()
      return done()
    default:
      throw new AppError('not_found', `The ingress has no operation ${request.method} ${pathname}`)
  }
}

function knownCounts(query: URLSearchParams): KnownCounts | undefined {
  const epoch = query.get('epoch')
  return epoch === null ? undefined : { epoch, revision: Number(query.get('revision')) }
}

function done(): Response {
  return new Response(null, { status: 204 })
}

function failure(error: unknown): Response {
  const known = error instanceof AppError ? error : new AppError('internal', error instanceof Error ? error.message : String(error))
  return Response.json({ code: known.code, message: known.message }, { status: errorStatus[known.code] })
}
