import type { RunningTelemetry, Work } from '../../server/boot/serve/context.ts'
import type { RoutePublisher } from '../../server/edge/routing/publish.ts'
import { createFakeMachine } from '../../server/engines/fake/machine.ts'
import { createFakeVolumes } from '../../server/engines/fake/volumes.ts'
import type { Engine } from '../../server/engines/port/port.ts'
import type { IngressClient } from '../../server/ingress/control/client.ts'
import type { Paths } from '../../server/platform/paths.ts'
import type { ServerLog } from '../../server/platform/server-log.ts'
import { createLeases } from '../../server/platform/work/leases.ts'
import type { Program, ProgramKind, Programs } from '../../server/runtime/programs/port.ts'
import { openMetricsDatabase } from '../../server/telemetry/metrics/database.ts'
import { createMetrics } from '../../server/telemetry/metrics/metrics.ts'
import type { TrafficReader, TrafficWindow } from '../../server/telemetry/traffic/port.ts'

/** An engine that has nothing to run: for tests of the API alone. */
export const idleEngine: Engine = {
  name: 'idle',
  epoch: 'idle',
  capabilities: { ownNetworks: false, siblingConnections: false, freeze: true, terminals: ['joined', 'own'], stacks: ['host'] },
  hostAddress: '127.0.0.1',
  output: {
    open: () => ({ hasNew: () => false, read: async () => undefined, release: async (cursor) => cursor, remove: async () => {} }),
    list: async () => [],
  },
  volumes: createFakeVolumes(createFakeMachine()),
  guarantees: async () => [],
  start: () => Promise.reject(new Error('The idle engine starts nothing')),
  inspect: async () => undefined,
  list: async () => [],
  stop: async () => {},
  remove: async () => {},
  onExit: () => () => {},
  openTerminal: () => Promise.reject(new Error('The idle engine opens nothing')),
  freeze: async () => {},
  thaw: async () => {},
  link: async () => {},
  listeners: async () => [],
  siblingConnections: async () => 0,
  usage: async () => undefined,
  limitSpace: async () => {},
  heldSpace: async () => new Map(),
  emptyTemporary: async () => {},
  removeOwner: async () => {},
  close: async () => {},
}

const idleProgram = (kind: ProgramKind, version: string, server: string): Program => {
  const [major = ''] = version.split('.')
  return { kind, version, major, name: `${kind}-${version}`, source: 'embedded', server }
}

const ofKind: Record<ProgramKind, Program> = {
  postgres: idleProgram('postgres', '18.6', 'bin/postgres'),
  valkey: idleProgram('valkey', '9.1.2', 'bin/valkey-server'),
}

/** Programs that would be there, were there anything to run them. */
export const idlePrograms: Programs = {
  available: (kind) => [ofKind[kind]],
  ensure: async (name) => `/nowhere/${name}`,
  folder: (name) => `/nowhere/${name}`,
  pooler: { missing: 'Pooling needs PgBouncer, which tests install where they use it.' },
}

/** Nobody acts on what the API writes down. */
export const idleWork: Work = {
  poke() {},
  interruptDeploy() {},
  ways: { open: async () => {}, remove: async () => {} },
  takenDisks: createLeases(),
  pushes: { enter: () => () => {}, conclude: async () => [] },
  awaited: { run: async () => {}, end: async () => {}, specOf: () => undefined, changed() {} },
  cancelTransfer() {},
  transferProgress: async () => undefined,
  keepLastBackup: async () => {},
  isBackingUp: () => false,
  untilLogReceived: async () => {},
  deployEnded() {},
  whenDeploysSettled: async () => {},
}

/** An ingress that answers and has nobody to serve. */
export const idleIngress: IngressClient = {
  publish: async () => {},
  publishCertificates: async () => {},
  drainState: async () => ({ inFlight: 0, tunnels: 0 }),
  closeTunnels: async () => {},
  abortRequests: async () => {},
  status: async () => ({ pid: 0, version: '', routesVersion: 0, listen: { host: '127.0.0.1', port: 0 }, activeConnections: 0 }),
  heldServices: async () => ({ revision: 0, serviceIds: [] }),
  handOver: async () => {},
  shutdown: async () => {},
  counters: async () => ({ epoch: 'idle', revision: 0, entries: [] }),
}

export const idleRoutes: RoutePublisher = { publish: async () => {}, republish: async () => {} }

/** Nobody has asked for anything. */
const noTraffic: TrafficWindow = {
  requests: 0,
  byClass: { none: 0, '1xx': 0, '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0 },
  ingressErrors: 0,
  brokenOff: 0,
  p50Ms: 0,
  p95Ms: 0,
  p99Ms: 0,
  bytesIn: 0,
  bytesOut: 0,
}

const idleTraffic: TrafficReader = {
  sampledAt: () => 0,
  lastActiveAt: () => 0,
  since: () => noTraffic,
  after: () => noTraffic,
}

/** Measures nothing, over a real database of samples. */
export function idleTelemetry(paths: Paths, log: ServerLog): RunningTelemetry {
  const samples = openMetricsDatabase(paths.metricsDb, log)
  const sweeps = { latest: () => undefined, totals: () => new Map(), lagMs: () => 0 }
  return {
    traffic: idleTraffic,
    metrics: createMetrics(samples, sweeps, new AbortController().signal),
    stop: async () => samples.close(),
  }
}
