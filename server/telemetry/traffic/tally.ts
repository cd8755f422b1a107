import type { TrafficEntry } from '../../ingress/traffic/counts.ts'
import { LATENCY_BUCKETS, latencyAt } from '../../ingress/traffic/latency.ts'
import type { TrafficWindow } from './port.ts'

export type Tally = Float64Array

const AT = { byClass: 0, failures: 6, cutOff: 9, brokenOff: 10, receivedBytes: 11, sentBytes: 12, latency: 13 } as const
const LENGTH = AT.latency + LATENCY_BUCKETS

export const emptyTally = (): Tally => new Float64Array(LENGTH)

export function tallyOf(entry: TrafficEntry): Tally {
  const tally = emptyTally()
  tally.set(entry.byClass, AT.byClass)
  tally.set(entry.failures, AT.failures)
  tally[AT.cutOff] = entry.cutOff
  tally[AT.brokenOff] = entry.brokenOff
  tally[AT.receivedBytes] = entry.receivedBytes
  tally[AT.sentBytes] = entry.sentBytes
  tally.set(entry.latency, AT.latency)
  return tally
}

export function addDifference(sum: Tally, from: Tally | undefined, to: Tally): void {
  for (let index = 0; index < LENGTH; index++) sum[index] = (sum[index] ?? 0) + (to[index] ?? 0) - (from?.[index] ?? 0)
}

export const latencyOf = (tally: Tally): Tally => tally.subarray(AT.latency)

export function windowOf(tally: Tally): TrafficWindow {
  const at = (index: number): number => tally[index] ?? 0
  const inClass = (index: number): number => at(AT.byClass + index)
  const byClass = { none: inClass(0), '1xx': inClass(1), '2xx': inClass(2), '3xx': inClass(3), '4xx': inClass(4), '5xx': inClass(5) }
  const slowest = (share: number): number => latencyAt(share, (bucket) => at(AT.latency + bucket))
  return {
    requests: Object.values(byClass).reduce((sum, count) => sum + count, 0),
    byClass,
    ingressErrors: at(AT.failures) + at(AT.failures + 1) + at(AT.failures + 2),
    brokenOff: at(AT.brokenOff),
    p50Ms: slowest(0.5),
    p95Ms: slowest(0.95),
    p99Ms: slowest(0.99),
    bytesIn: at(AT.receivedBytes),
    bytesOut: at(AT.sentBytes),
  }
}
