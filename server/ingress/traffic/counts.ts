import { type Static, Type } from '@sinclair/typebox'
import { LATENCY_BUCKETS } from './latency.ts'

const Count = Type.Integer({ minimum: 0 })

/** What has been counted of one instance, or of what no instance of a service was asked for, since `beganAt`. */
export const TrafficEntry = Type.Object({
  /** Empty for requests that belong to no service: unknown hosts, and heads that were refused. */
  serviceId: Type.String(),
  /** Empty for what no instance was asked for: static sites, pages of our own. */
  instanceId: Type.String(),
  /** Milliseconds since 1970. */
  beganAt: Count,
  /** Requests that are over: those whose answer did not reach the client whole, then 1xx (tunnels) to 5xx. */
  byClass: Type.Array(Count, { minItems: 6, maxItems: 6 }),
  /** Of these, answers of ours (502, 503, 504) in place of the instance's. */
  failures: Type.Array(Count, { minItems: 3, maxItems: 3 }),
  /** Answers that had begun and did not reach the client whole. */
  cutOff: Count,
  /** Of these, the ones the instance broke off. */
  brokenOff: Count,
  /** Of bodies and tunnels, with their framing. */
  receivedBytes: Count,
  sentBytes: Count,
  /** From the head received to the answer whole, by bucket of latency.ts; tunnels and what was cut off are left out. */
  latency: Type.Array(Count, { minItems: LATENCY_BUCKETS, maxItems: LATENCY_BUCKETS }),
  /** Now. */
  inFlight: Count,
  tunnels: Count,
  /** Whether it has left the route table and nothing of it is under way any more. */
  isGone: Type.Boolean(),
})
export type TrafficEntry = Static<typeof TrafficEntry>

/** What one ingress process has counted since it started: a reader computes differences. */
export const TrafficCounts = Type.Object({
  /** Random for each process: counts of two of them are to be added, never compared. */
  epoch: Type.String({ minLength: 1 }),
  /** To be given back, so that only entries that have changed since are sent. */
  revision: Count,
  entries: Type.Array(TrafficEntry),
})
export type TrafficCounts = Static<typeof TrafficCounts>

/** Up to where a reader knows the counts. What has gone is forgotten once a reader knows it. */
export interface KnownCounts {
  epoch: string
  revision: number
}
