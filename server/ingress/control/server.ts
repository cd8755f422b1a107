import { chmodSync, renameSync, rmSync } from 'node:fs'
import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { AppError, errorStatus, messageOf } from '../../../shared/error.ts'
import type { Publish } from '../tables/publication.ts'
import type { KnownCounts, TrafficCounts } from '../traffic/counts.ts'
import { dropNames, ownSocketPath, sweepNames, takeName } from './names.ts'
import {
  Cancellation,
  controlPaths,
  type DrainState,
  HELD_PATIENCE_MS,
  type HeldServicesAnswer,
  type IngressStatus,
  PUBLISHER_HEADER,
  Successor,
  TAKES_CHANGES_HEADER,
} from './protocol.ts'

export interface ControlledIngress {
  status(): IngressStatus
  counters(known: KnownCounts | undefined): TrafficCounts
  publish: Publish
  publishChanges: Publish
  publishCertificates: Publish
  drainState(instanceId: string): DrainState
  closeTunnels(instanceId: string): void
  abortRequests(instanceId: string): void
  heldServices(known: number | undefined, patienceMs: number): Promise<HeldServicesAnswer>
  /** Cancels what runs in a session that came in here, if this is its key. */
  cancel(cancellation: Cancellation): Promise<unknown>
  /** Starts the successor and leaves it the clients to come; rejects, and goes on as before, when that one does not come to serve. */
  handOver(successor: Successor): Promise<void>
  shutdown(): void
}

const OWNER_ONLY = 0o600
/** A table of 10,000 routes has some 3 MB. */
const MAX_SNAPSHOT_BYTES = 256 * 1024 * 1024

const PATIENCE_SECONDS = 60
const SUCCESSOR_WANTED = 'A successor needs a command, an environment and a file for its output.'

export interface Control {
  takeName(): void
  stop(): Promise<void>
}

/** Serves the control socket of this process, which gets its own name only when nobody but our own user may connect to it. */
export function serveControl(socketPath: string, ready: Promise<ControlledIngress>): Control {
  sweepNames(socketPath)
  const ownPath = ownSocketPath(socketPath, process.pid)
  const unnamedPath = `${ownPath}.new`
  rmSync(unnamedPath, { force: true })
  const server = serveAt(unnamedPath, ready)
  chmodSync(unnamedPath, OWNER_ONLY)
  renameSync(unnamedPath, ownPath)
  return {
    takeName: () => takeName(socketPath, process.pid),
    stop: () => {
      dropNames(socketPath, process.pid)
      return server.stop()
    },
  }
}

function serveAt(unix: string, ready: Promise<ControlledIngress>): Bun.Server<undefined> {
  try {
    return Bun.serve({
      unix,
      maxRequestBodySize: MAX_SNAPSHOT_BYTES,
      fetch: async (request, server) => {
        server.timeout(request, PATIENCE_SECONDS)
        return answer(await ready, request)
      },
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
      await ingress.publish(publisherOf(request), await request.text())
      return new Response(null, { status: 204, headers: { [TAKES_CHANGES_HEADER]: 'application/json' } })
    case `PATCH ${controlPaths.routes}`:
      await ingress.publishChanges(publisherOf(request), await request.text())
      return done()
    case `PUT ${controlPaths.certificates}`:
      await ingress.publishCertificates(publisherOf(request), await request.text())
      return done()
    case `GET ${controlPaths.heldServices}`:
      return Response.json(await ingress.heldServices(knownRevision(searchParams), HELD_PATIENCE_MS))
    case 'GET instances/drain-state':
      return Response.json(ingress.drainState(instanceId))
    case 'POST instances/close-tunnels':
      ingress.closeTunnels(instanceId)
      return done()
    case 'POST instances/abort-requests':
      ingress.abortRequests(instanceId)
      return done()
    case `POST ${controlPaths.cancellations}`:
      await ingress.cancel(shapeOf(Cancellation, await request.json(), 'A request to cancel needs a process id and a key.'))
      return done()
    case `POST ${controlPaths.handOver}`:
      await ingress.handOver(shapeOf(Successor, await request.json(), SUCCESSOR_WANTED))
      return done()
    case `POST ${controlPaths.shutdown}`:
      ingress.shutdown()
      return done()
    default:
      throw new AppError('not_found', `The ingress has no operation ${request.method} ${pathname}`)
  }
}

const publisherOf = (request: Request): string => request.headers.get(PUBLISHER_HEADER) ?? ''

function shapeOf<T extends TSchema>(schema: T, value: unknown, wanted: string): Static<T> {
  if (Value.Check(schema, value)) return value
  throw new AppError('validation_failed', wanted)
}

function knownCounts(query: URLSearchParams): KnownCounts | undefined {
  const epoch = query.get('epoch')
  return epoch === null ? undefined : { epoch, revision: Number(query.get('revision')) }
}

function knownRevision(query: URLSearchParams): number | undefined {
  const since = query.get('since')
  return since === null ? undefined : Number(since)
}

function done(): Response {
  return new Response(null, { status: 204 })
}

function failure(error: unknown): Response {
  const known = error instanceof AppError ? error : new AppError('internal', messageOf(error))
  return Response.json({ code: known.code, message: known.message }, { status: errorStatus[known.code] })
}
