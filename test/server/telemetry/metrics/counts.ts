import type { TrafficCounts } from '../../../../server/ingress/traffic/counts.ts'
import { LATENCY_BUCKETS, latencyBucket } from '../../../../server/ingress/traffic/latency.ts'
import { type Tally, windowOf } from '../../../../server/telemetry/traffic/tally.ts'

let revision = 0

/** What an ingress answers that has counted so many requests, all well answered in 4 ms, by `service/instance`. */
export function countsOf(epoch: string, counts: Record<string, number>): TrafficCounts {
  const entries = Object.entries(counts).map(([key, count]) => {
    const [serviceId = '', instanceId = ''] = key.split('/')
    const latency = Array<number>(LATENCY_BUCKETS).fill(0)
    latency[latencyBucket(4)] = count
    return {
      ...{ serviceId, instanceId, beganAt: 1, byClass: [0, 0, count, 0, 0, 0], failures: [0, 0, 0], cutOff: 0, brokenOff: 0 },
      ...{ receivedBytes: count, sentBytes: count * 10, latency, inFlight: 0, tunnels: 0, isGone: false },
    }
  })
  return { epoch, revision: ++revision, entries }
}

export const requestsOfTally = (tally: Tally | undefined): number => (tally === undefined ? 0 : windowOf(tally).requests)
