import { messageOf } from '../../../shared/error.ts'
import { createIngressClient } from '../../ingress/control/client.ts'
import { parseRouteTable, type Route } from '../../ingress/tables/route-table.ts'
import { readIfPresent } from '../../platform/files/read-file.ts'
import type { Paths } from '../../platform/paths.ts'
import { askStatus } from '../serve-socket/client.ts'

export interface Sample {
  host: string
  status: number
}

const SAMPLES = 3
const REQUEST_TIMEOUT_MS = 5_000
const POLL_MS = 100
const gatewayStatuses = [404, 502, 503, 504]

export async function takeSamples(paths: Paths): Promise<Sample[]> {
  const text = readIfPresent(paths.routesFile)
  if (text === undefined) return []
  const { hosts } = parseRouteTable(JSON.parse(text))
  const served = Object.entries(hosts).filter(([, route]) => isServed(route))
  const samples = await Promise.all(
    served.slice(0, SAMPLES).map(async ([host]) => ({ host, status: await askFor(paths, host).catch(() => 0) })),
  )
  return samples.filter(({ status }) => status !== 0 && !gatewayStatuses.includes(status))
}

const isServed = (route: Route): boolean => route.kind === 'static' || (route.kind === 'proxy' && route.targets.length > 0)

export interface Expected {
  paths: Paths
  pid: number
  version: string
  samples: readonly Sample[]
  /** Aborts when there is no point in waiting any more; its reason says why. */
  signal: AbortSignal
}

/** Returns when this version answers, as does its ingress, and what was served is served. @throws Error that says what was still missing when the signal aborted. */
export async function awaitHealthy(expected: Expected): Promise<void> {
  for (;;) {
    const missing = await firstMissing(expected).catch(messageOf)
    if (missing === undefined) return
    if (expected.signal.aborted) throw new Error(`${reasonOf(expected.signal)}; ${missing}`)
    await Bun.sleep(POLL_MS)
  }
}

async function firstMissing({ paths, pid, version, samples }: Expected): Promise<string | undefined> {
  const status = await askStatus(paths.serveSocket).catch(() => undefined)
  if (status?.pid !== pid || status.version !== version) return 'it did not say that it was ready'
  const health = await fetch(`http://${reachable(status.api)}/api/health`, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) })
  const body = (await health.json()) as { status?: string; version?: string }
  if (health.status !== 200 || body.version !== version)
    return `its API answered ${health.status} ${body.status} as version ${body.version}`
  const ingress = await createIngressClient(paths.ingressSocket).status()
  if (ingress.version !== version) return `the ingress is still of version ${ingress.version}`
  for (const { host, status: before } of samples) {
    const now = await askFor(paths, host)
    if (gatewayStatuses.includes(now)) return `${host} answered ${now} where it had answered ${before}`
  }
  return undefined
}

const reasonOf = ({ reason }: AbortSignal): string => messageOf(reason)

async function askFor(paths: Paths, host: string): Promise<number> {
  const { listen } = await createIngressClient(paths.ingressSocket).status()
  const headers = { host, 'user-agent': 'cpd-upgrade' }
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  const response = await fetch(`http://${reachable(listen)}/`, { headers, signal, redirect: 'manual', keepalive: false })
  await response.body?.cancel()
  return response.status
}

function reachable({ host, port }: { host: string; port: number }): string {
  if (host === '0.0.0.0') return `127.0.0.1:${port}`
  if (host === '::') return `[::1]:${port}`
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
