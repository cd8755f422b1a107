/**
 * The data plane: a process of its own that brings requests to instances and serves static sites.
 *
 *   client ⇄ ClientConnection ⇄ Exchange (ProxyExchange → Tunnel, StaticExchange) ⇄ UpstreamConnection ⇄ instance
 *
 * A connection reads one request at a time and asks the Router who answers. Bytes are passed on as they came, with their framing
 * followed on both sides, so that a message cut off anywhere is never passed on as whole; whoever cannot take more bytes makes the
 * other side wait. The control plane replaces the route table as one value over the control socket, and it is on disk before that
 * is answered: this process needs nobody to start, to serve, or to end.
 */

import { AppError } from '../../shared/error.ts'
import { createIngressClient } from './control-client.ts'
import { type Control, type ControlledIngress, serveControl } from './control-server.ts'
import { Deadlines } from './deadlines.ts'
import { type InheritedListener, inheritanceOf } from './inherited.ts'
import { createLife } from './life.ts'
import { defaultIngressLimits, type IngressLimits } from './limits.ts'
import { Targets } from './proxy/targets.ts'
import { publishTo } from './publication.ts'
import { EMPTY_ROUTE_TABLE, type RouteTable } from './route-table.ts'
import { Router } from './router.ts'
import { type ClientListener, listenForClients } from './server.ts'
import { loadSnapshot } from './snapshot-file.ts'
import { StaticFiles } from './static/files.ts'
import type { Served } from './traffic/counters.ts'
import { createTraffic, type IngressTraffic } from './traffic/traffic.ts'
import { trustedProxies } from './trusted-proxies.ts'

export interface IngressOptions {
  listen: { host: string; port: number }
  controlSocketPath: string
  /** Holds the last applied table. */
  routesFilePath: string
  /** Of the executable. */
  version: string
  /** CIDRs whose forwarded headers count. */
  trustedProxies: string[]
  /** Sockets that a predecessor has left open here. */
  inherited?: readonly InheritedListener[]
  log: (line: string) => void
  /** Where a line for each request is kept until the control plane has taken it in; none is written without it. */
  accessLogDir?: string
  limits?: Partial<IngressLimits>
}

export interface RunningIngress {
  /** With the port that was actually taken. */
  address: { host: string; port: number }
  /** Stops listening and waits for the requests in flight. */
  close(): Promise<void>
  /** Resolves once it has ended, by `close` or because the control plane asked. */
  closed: Promise<void>
}

/**
 * Starts the ingress in this process.
 *
 * @throws AppError `unavailable` when the address is taken, `conflict` when another ingress holds the control socket.
 */
export async function runIngress(options: IngressOptions): Promise<RunningIngress> {
  const inheritance = inheritanceOf(options.inherited ?? [])
  // Whoever inherits was started by the one that serves.
  if (options.inherited === undefined || options.inherited.length === 0) await refuseSecond(options.controlSocketPath)
  const limits = { ...defaultIngressLimits, ...options.limits }
  const deadlines = new Deadlines(limits.tickMs)
  const targets = new Targets()
  const files = new StaticFiles(options.log)
  const isTrusted = trustedProxies(options.trustedProxies)
  const router = new Router({ proxy: { limits, deadlines, targets, log: options.log }, files, isTrusted })
  const traffic = createTraffic({ served: servedBy(router, targets), accessLogDir: options.accessLogDir, isTrusted, log: options.log })
  const ready = Promise.withResolvers<ControlledIngress>()
  ready.promise.catch(() => {})
  let control: Control | undefined
  let listener: ClientListener | undefined
  try {
    // Before the table is read: whoever publishes a newer one from now on tells us, too.
    control = serveControl(options.controlSocketPath, ready.promise)
    router.apply(await restoredTable(options))
    const answer = router.answer.bind(router)
    const inherited = inheritance.take(options.listen)
    inheritance.refuseRest()
    listener = listenForClients({
      host: options.listen.host,
      port: inherited?.port ?? options.listen.port,
      inherited: inherited?.descriptor,
      context: { limits, deadlines, isTrusted, answer, finished: traffic.finished },
      log: options.log,
    })
    return operate({ options, limits, deadlines, targets, router, traffic, listener, control, ready: ready.resolve })
  } catch (error) {
    ready.reject(error)
    await control?.stop()
    await listener?.end({ graceMs: 0, lingerMs: 0, giveUp: () => {} })
    deadlines.stop()
    throw error
  }
}

interface Parts {
  options: IngressOptions
  limits: IngressLimits
  deadlines: Deadlines
  targets: Targets
  router: Router
  traffic: IngressTraffic
  listener: ClientListener
  control: Control
  ready: (ingress: ControlledIngress) => void
}

function operate({ options, limits, deadlines, targets, router, traffic, listener, control, ready }: Parts): RunningIngress {
  const { controlSocketPath, routesFilePath, log } = options
  const life = createLife({
    controlSocketPath,
    control,
    listeners: [listener],
    targets,
    deadlines,
    limits,
    log,
    ended: () => traffic.close(),
  })
  const ingress: ControlledIngress = {
    status: () => ({
      pid: process.pid,
      version: options.version,
      routesVersion: router.version,
      listen: listener.address,
      activeConnections: listener.connectionCount,
    }),
    counters: (known) => traffic.read(known),
    publish: publishTo({ router, routesFilePath, isSucceeded: () => life.isSucceeded }),
    drainState: (instanceId) => targets.drainState(instanceId),
    closeTunnels: (instanceId) => targets.closeTunnels(instanceId),
    abortRequests: (instanceId) => targets.abortRequests(instanceId),
    handOver: (successor) => life.handOver(successor),
    shutdown: () => void life.close(),
  }
  ready(ingress)
  control.takeName()
  const { host, port } = listener.address
  log(`Serving at ${host}:${port} with route table ${router.version}`)
  return { address: listener.address, close: life.close, closed: life.closed }
}

const servedBy = (router: Router, targets: Targets): Served => ({
  routes: () => router.routes,
  drainStateOf: (instanceId) => targets.drainState(instanceId),
})

/** A table that cannot be read must not keep the ingress from starting: the control plane publishes it anew. */
async function restoredTable({ routesFilePath, log }: IngressOptions): Promise<RouteTable> {
  try {
    return (await loadSnapshot(routesFilePath)) ?? EMPTY_ROUTE_TABLE
  } catch (error) {
    log(`The saved route table could not be read and is left out: ${error instanceof Error ? error.message : error}`)
    return EMPTY_ROUTE_TABLE
  }
}

async function refuseSecond(controlSocketPath: string): Promise<void> {
  const status = await createIngressClient(controlSocketPath)
    .status()
    .catch(() => undefined)
  if (status !== undefined) {
    throw new AppError('conflict', `Another ingress (process ${status.pid}) already serves this data directory.`)
  }
}
