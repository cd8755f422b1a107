/**
 * The data plane: a process of its own that brings requests to instances and serves static sites.
 *
 *   client ⇄ ClientConnection, Http2Connection ⇄ Exchange (ProxyExchange → Tunnel, StaticExchange) ⇄ UpstreamConnection ⇄ instance
 *
 * A connection reads one request at a time and asks the Router who answers. Bytes are passed on as they came, with their framing
 * followed on both sides, so that a message cut off anywhere is never passed on as whole; whoever cannot take more bytes makes the
 * other side wait. The control plane replaces the route table as one value over the control socket, and it is on disk before that
 * is answered: this process needs nobody to start, to serve, or to end.
 */

import { dirname } from 'node:path'
import { AppError } from '../../../shared/error.ts'
import { trustedProxies } from '../../platform/network/trusted-proxies.ts'
import { Activator } from '../activator/activator.ts'
import { createIngressClient } from '../control/client.ts'
import { type Control, type ControlledIngress, serveControl } from '../control/server.ts'
import { Deadlines } from '../limits/deadlines.ts'
import { defaultIngressLimits, type IngressLimits } from '../limits/limits.ts'
import { Unsent } from '../limits/unsent.ts'
import type { ListenOptions } from '../serve/client-listener.ts'
import { type Listeners, openListeners } from '../serve/listeners.ts'
import { Router } from '../serve/router.ts'
import { type InheritedListener, inheritanceOf } from '../sockets/inherited.ts'
import { StaticFiles } from '../static/files.ts'
import { createStreams, type Streams } from '../streams/streams.ts'
import { type DatabaseKind, NO_DATABASES } from '../tables/database-route.ts'
import { type Publish, type PublishedTable, publicationOf, restore } from '../tables/publication.ts'
import { parseRouteChanges, withRouteChanges } from '../tables/route-changes.ts'
import { parseRouteTable, type RouteTable } from '../tables/route-table.ts'
import { answerBeforeRoutes } from '../tls/challenges-and-redirects.ts'
import { createTlsSide, type TlsOptions, type TlsSide } from '../tls/tls-side.ts'
import type { Served } from '../traffic/counters.ts'
import { createTraffic, type IngressTraffic } from '../traffic/traffic.ts'
import { Targets } from '../upstream/targets.ts'
import { createDatabaseSide, type DatabaseOptions, type DatabaseSide } from './database-side.ts'
import { createHandOver } from './hand-over.ts'

export interface IngressOptions {
  listen: { host: string; port: number }
  controlSocketPath: string
  routesFilePath: string
  tls?: TlsOptions
  databases?: DatabaseOptions
  version: string
  trustedProxies: string[]
  inherited?: readonly InheritedListener[]
  log: (line: string) => void
  /** Where a line for each request is kept until the control plane has taken it in; none is written without it. */
  accessLogDir?: string
  limits?: Partial<IngressLimits>
}

export interface RunningIngress {
  address: { host: string; port: number }
  tlsAddress: { host: string; port: number } | undefined
  databaseAddress(kind: DatabaseKind): { host: string; port: number } | undefined
  close(): Promise<void>
  closed: Promise<void>
}

/** @throws AppError `unavailable` when an address is taken, `conflict` when another ingress holds the control socket. */
export async function runIngress(options: IngressOptions): Promise<RunningIngress> {
  const { log } = options
  const inheritance = inheritanceOf(options.inherited ?? [])
  if (options.inherited === undefined || options.inherited.length === 0) await refuseSecond(options.controlSocketPath)
  const limits = { ...defaultIngressLimits, ...options.limits }
  const deadlines = new Deadlines(limits.tickMs)
  const targets = new Targets()
  const isTrusted = trustedProxies(options.trustedProxies)
  const activator = new Activator(limits, deadlines)
  const router = new Router({ proxy: { limits, deadlines, targets, log }, files: new StaticFiles(log), activator, isTrusted })
  const streams = createStreams({ inheritance, limits, log })
  const tls = createTlsSide(options.tls, log)
  const { certificates } = tls
  const databases = createDatabaseSide({
    ...options,
    options: options.databases ?? {},
    certificates,
    limits,
    noted: (connection) => traffic.noted(connection),
  })
  const routes = routesOf({ router, streams, databases }, options)
  const traffic = createTraffic({
    served: servedBy({ router, targets, databases }),
    lastCountsDir: dirname(options.controlSocketPath),
    accessLogDir: options.accessLogDir,
    isTrusted,
    log,
  })
  const parts = { options, limits, deadlines, targets, activator, router, streams, databases, routes, tls, traffic }
  const ready = Promise.withResolvers<ControlledIngress>()
  ready.promise.catch(() => {})
  let control: Control | undefined
  let listeners: Listeners | undefined
  try {
    // The socket comes before the tables are read: whoever publishes a newer one from now on sends it to us, too.
    control = serveControl(options.controlSocketPath, ready.promise)
    await restore(routes)
    if (tls.table !== undefined) await restore(tls.table)
    const context = requestContext({ ...parts, isTrusted, tlsPort: () => listeners?.tls?.address.port })
    listeners = openListeners({
      listen: options.listen,
      listenTls: options.tls?.listen,
      inheritance,
      transport: tls.transport,
      doors: databases.doors,
      context,
      log,
    })
    return operate({ ...parts, listeners, control, ready: ready.resolve })
  } catch (error) {
    ready.reject(error)
    await control?.stop()
    await listeners?.abandon()
    for (const part of [streams, databases, tls, deadlines]) part.stop()
    throw error
  }
}

interface RequestParts extends Pick<Parts, 'limits' | 'deadlines' | 'router' | 'tls' | 'traffic'> {
  isTrusted: (address: string) => boolean
  tlsPort: () => number | undefined
}

function requestContext({ limits, deadlines, router, tls, traffic, isTrusted, tlsPort }: RequestParts): ListenOptions['context'] {
  return {
    limits,
    deadlines,
    unsent: new Unsent(limits, isTrusted),
    isTrusted,
    answer: answerBeforeRoutes({
      certificates: tls.certificates,
      tlsPort,
      claim: (head, client) => {
        client.note.serviceId = router.routes.get(head.host)?.serviceId ?? ''
      },
      answer: router.answer.bind(router),
    }),
    finished: (note, client) => {
      router.finished(note)
      traffic.finished(note, client)
    },
  }
}

interface Parts {
  options: IngressOptions
  limits: IngressLimits
  deadlines: Deadlines
  targets: Targets
  activator: Activator
  router: Router
  streams: Streams
  databases: DatabaseSide
  routes: PublishedTable<RouteTable>
  tls: TlsSide
  traffic: IngressTraffic
  listeners: Listeners
  control: Control
  ready: (ingress: ControlledIngress) => void
}

function operate(parts: Parts): RunningIngress {
  const { options, limits, deadlines, targets, activator, router, streams, databases, routes, tls, traffic, listeners, control, ready } =
    parts
  const { controlSocketPath, log } = options
  const handOver = createHandOver({
    controlSocketPath,
    control,
    listeners: listeners.all,
    streams,
    targets,
    activator,
    deadlines,
    limits,
    log,
    ended: () => {
      listeners.stop()
      databases.stop()
      tls.stop()
      return traffic.close()
    },
  })
  const isSucceeded = () => handOver.isSucceeded
  const publication = publicationOf(routes, isSucceeded)
  const ingress: ControlledIngress = {
    status: () => ({
      pid: process.pid,
      version: options.version,
      routesVersion: router.version,
      certificatesVersion: tls.certificates.version,
      listen: listeners.http.address,
      ...(listeners.tls !== undefined && { listenTls: listeners.tls.address }),
      activeConnections: listeners.all.reduce((sum, { connectionCount }) => sum + connectionCount, 0),
      ...(handOver.isSucceeded && { isSucceeded: true as const }),
    }),
    counters: (known) => traffic.read(known),
    publish: publication.publish,
    publishChanges: publication.publishChanges({ parse: parseRouteChanges, applyTo: withRouteChanges }),
    publishCertificates: tls.table === undefined ? noCertificates : publicationOf(tls.table, isSucceeded).publish,
    drainState: (instanceId) => {
      const { inFlight, tunnels } = targets.drainState(instanceId)
      return { inFlight, tunnels: tunnels + streams.countOf(instanceId) + databases.directory.countOf(instanceId) }
    },
    closeTunnels: (instanceId) => {
      targets.closeTunnels(instanceId)
      streams.cut(instanceId)
      databases.directory.cut(instanceId)
    },
    abortRequests: (instanceId) => targets.abortRequests(instanceId),
    heldServices: (known, patienceMs) => activator.services.changesSince(known, patienceMs),
    cancel: ({ processId, secret }) => databases.cancel({ processId, secret: Buffer.from(secret, 'base64') }),
    handOver: (successor) => handOver.to(successor),
    shutdown: () => void handOver.close(),
  }
  ready(ingress)
  control.takeName()
  const addresses = listeners.all.map(({ address: { host, port } }) => `${host}:${port}`)
  log(`Serving at ${addresses.join(' and ')} with route table ${router.version}`)
  return {
    address: listeners.http.address,
    tlsAddress: listeners.tls?.address,
    databaseAddress: (kind) => listeners.doors.get(kind)?.address,
    close: handOver.close,
    closed: handOver.closed,
  }
}

const routesOf = (
  { router, streams, databases }: Pick<Parts, 'router' | 'streams' | 'databases'>,
  { routesFilePath, log }: IngressOptions,
): PublishedTable<RouteTable> => ({
  name: 'route table',
  filePath: routesFilePath,
  parse: parseRouteTable,
  apply: (table) => {
    router.apply(table)
    streams.apply(table.streams ?? [])
    databases.directory.apply(table.databases ?? NO_DATABASES)
  },
  log,
})

const noCertificates: Publish = async () => {
  throw new AppError('not_configured', 'This ingress was started without a place for certificates.')
}

const servedBy = ({ router, targets, databases: { directory } }: Pick<Parts, 'router' | 'targets' | 'databases'>): Served => ({
  routes: () => router.routes,
  drainStateOf: (instanceId) => {
    const { inFlight, tunnels } = targets.drainState(instanceId)
    return { inFlight, tunnels: tunnels + directory.countOf(instanceId) }
  },
  passedOn: () => directory.passedOn(),
})

async function refuseSecond(controlSocketPath: string): Promise<void> {
  const status = await createIngressClient(controlSocketPath)
    .status()
    .catch(() => undefined)
  if (status !== undefined) {
    throw new AppError('conflict', `Another ingress (process ${status.pid}) already serves this data directory.`)
  }
}
