import { type Static, Type } from '@sinclair/typebox'
import { LATENCY_BUCKETS } from './latency.ts'

const Count = Type.Integer({ minimum: 0 })

export const TrafficEntry = Type.Object({
  /** Empty for requests that belong to no service: unknown hosts, and heads that were refused. */
  serviceId: Type.String(),
  /** Empty for what no instance was asked for: static sites, pages of our own. */
  instanceId: Type.String(),
  /** Milliseconds since 1970. */
  beganAt: Count,
  /** Requests that are over: those whose answer did not reach the client whole, then 1xx (tunnels) to 5xx. */
  byClass: Type.Array(Count, { minItems: 6, maxItems: 6 }),
  failures: Type.Array(Count, { minItems: 3, maxItems: 3 }),
  cutOff: Count,
  brokenOff: Count,
  receivedBytes: Count,
  sentBytes: Count,
  latency: Type.Array(Count, { minItems: LATENCY_BUCKETS, maxItems: LATENCY_BUCKETS }),
  inFlight: Count,
  tunnels: Count,
  isGone: Type.Boolean(),
})
export type TrafficEntry = Static<typeof TrafficEntry>

/** What one ingress process has counted since it started: a reader computes differences. */
export const TrafficCounts = Type.Object({
  /** Random for each process: counts of two of them are to be added, never compared. */
  epoch: Type.String({ minLength: 1 }),
  revision: Count,
  entries: Type.Array(TrafficEntry),
})
export type TrafficCounts = Static<typeof TrafficCounts>

export interface KnownCounts {
  epoch: string
  revision: number
}
