import type { TrafficEntry } from '../../ingress/traffic/counts.ts'
import type { TrafficWindow } from './port.ts'
import { addDifference, emptyTally, type Tally, tallyOf, windowOf } from './tally.ts'

/** A reading of one entry's counts. It holds until the next one: readings that say nothing new are not kept. */
export interface Sample {
  at: number
  tally: Tally
}

export interface Series {
  epoch: string
  serviceId: string
  instanceId: string
  beganAt: number
  samples: Sample[]
  inFlight: number
  tunnels: number
  isGone: boolean
}

export const KEPT_MS = 15 * 60_000
const FINE_MS = 90_000
const COARSE_MS = 10_000

export function beginSeries(epoch: string, { serviceId, instanceId, beganAt }: TrafficEntry): Series {
  return { epoch, serviceId, instanceId, beganAt, samples: [], inFlight: 0, tunnels: 0, isGone: false }
}

export function extendSeries(series: Series, entry: TrafficEntry, at: number): void {
  series.samples.push({ at, tally: tallyOf(entry) })
  series.inFlight = entry.inFlight
  series.tunnels = entry.tunnels
  series.isGone = entry.isGone
}

/** Leaves out what no window needs: readings within ten seconds of one another after a while, and all but the last of those too old. */
export function thinned(samples: readonly Sample[], now: number): Sample[] {
  return samples.filter(({ at }, index) => {
    const next = samples[index + 1]
    if (next === undefined || now - at < FINE_MS) return true
    if (now - next.at >= KEPT_MS) return false
    return Math.floor(at / COARSE_MS) !== Math.floor(next.at / COARSE_MS)
  })
}

export type Base = (samples: readonly Sample[], sinceMs: number) => Sample | undefined

export const lastBefore: Base = (samples, sinceMs) => samples.findLast(({ at }) => at <= sinceMs) ?? samples[0]

export const firstAfter: Base = (samples, sinceMs) => samples.find(({ at }) => at >= sinceMs) ?? samples.at(-1)

export function trafficOf(series: Iterable<Series>, sinceMs: number, base: Base): TrafficWindow {
  const sum = emptyTally()
  for (const { samples, beganAt } of series) {
    const last = samples.at(-1)
    if (last !== undefined) addDifference(sum, beganAt >= sinceMs ? undefined : base(samples, sinceMs)?.tally, last.tally)
  }
  return windowOf(sum)
}
