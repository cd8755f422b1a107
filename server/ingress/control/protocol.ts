import { type Static, Type } from '@sinclair/typebox'
import type { KnownCounts } from '../traffic/counts.ts'

export const IngressStatus = Type.Object({
  pid: Type.Integer(),
  version: Type.String(),
  routesVersion: Type.Integer(),
  certificatesVersion: Type.Optional(Type.Integer()),
  listen: Type.Object({ host: Type.String(), port: Type.Integer() }),
  listenTls: Type.Optional(Type.Object({ host: Type.String(), port: Type.Integer() })),
  activeConnections: Type.Integer(),
  /** Another ingress serves in its place: this one only finishes what it has. */
  isSucceeded: Type.Optional(Type.Literal(true)),
})
export type IngressStatus = Static<typeof IngressStatus>

export const DrainState = Type.Object({ inFlight: Type.Integer(), tunnels: Type.Integer() })
export type DrainState = Static<typeof DrainState>

export const HeldServicesAnswer = Type.Object({ revision: Type.Integer({ minimum: 0 }), serviceIds: Type.Array(Type.String()) })
export type HeldServicesAnswer = Static<typeof HeldServicesAnswer>

export const HELD_PATIENCE_MS = 25_000

export const Successor = Type.Object({
  command: Type.Array(Type.String(), { minItems: 1 }),
  env: Type.Record(Type.String(), Type.String()),
  outputPath: Type.String(),
})
export type Successor = Static<typeof Successor>

/** A key by which a session with a Postgres is cancelled; the secret is base64. */
export const Cancellation = Type.Object({ processId: Type.Integer(), secret: Type.String({ minLength: 1, maxLength: 400 }) })
export type Cancellation = Static<typeof Cancellation>

export const ControlError = Type.Object({ code: Type.String(), message: Type.String() })

/** Names the publisher of a snapshot: versions of two publishers cannot be compared. */
export const PUBLISHER_HEADER = 'x-publisher'

/** Says, in the answer to a whole route table, that changes to it are taken, too (RFC 5789 section 3.1). An older ingress does not say so. */
export const TAKES_CHANGES_HEADER = 'accept-patch'

export const controlPaths = {
  status: '/status',
  routes: '/routes',
  certificates: '/certificates',
  handOver: '/hand-over',
  shutdown: '/shutdown',
  counters: '/counters',
  countersSince: ({ epoch, revision }: KnownCounts) => `/counters?${new URLSearchParams({ epoch, revision: String(revision) })}`,
  cancellations: '/cancellations',
  heldServices: '/parked',
  heldServicesSince: (revision: number) => `/parked?since=${revision}`,
  drainState: (instanceId: string) => `/instances/${encodeURIComponent(instanceId)}/drain-state`,
  closeTunnels: (instanceId: string) => `/instances/${encodeURIComponent(instanceId)}/close-tunnels`,
  abortRequests: (instanceId: string) => `/instances/${encodeURIComponent(instanceId)}/abort-requests`,
}
