import type { Series } from '../traffic/series.ts'
import { addDifference, emptyTally, latencyOf, type Tally, windowOf } from '../traffic/tally.ts'
import { encodeCounts } from './counts-codec.ts'
import { fineLevel, floorTo, levels } from './levels.ts'
import { statusClasses, type TrafficSample } from './samples.ts'
import type { TallyKey } from './write.ts'

export interface EntryTally extends TallyKey {
  service: string
  tally: Tally
}

export const NO_SERVICE = ''

const LONGEST_WINDOW_MS = 15_000

export const tallyKey = ({ epoch, entry, beganAt }: TallyKey): string => `${epoch} ${beganAt} ${entry}`

export function entryTallies(series: Iterable<Series>): EntryTally[] {
  return [...series].flatMap(({ epoch, serviceId, instanceId, beganAt, samples }) => {
    const tally = samples.at(-1)?.tally
    return tally === undefined ? [] : [{ epoch, entry: instanceId || serviceId, beganAt, service: serviceId, tally }]
  })
}

export function asked(entries: readonly EntryTally[], known: (key: string) => Tally | undefined): Map<string, Tally> {
  const sums = new Map<string, Tally>()
  for (const entry of entries) {
    const before = known(tallyKey(entry))
    if (before !== undefined && isSame(before, entry.tally)) continue
    const sum = sums.get(entry.service) ?? emptyTally()
    addDifference(sum, before, entry.tally)
    sums.set(entry.service, sum)
  }
  return sums
}

export const isSame = (one: Tally, other: Tally): boolean => one.every((count, index) => count === other[index])

/** Windows for what two sweeps counted between them: `newest` (seconds since 1970), or, after a time without sweeps, all in it evenly: no spike. */
export function windowsBetween(fromMs: number, toMs: number, newest: number): number[] {
  const spanMs = toMs - fromMs
  const coarsest = levels.at(-2) ?? fineLevel
  if (spanMs <= LONGEST_WINDOW_MS) return [newest]
  const { stepSeconds } = levels.find(({ keptSeconds }) => spanMs <= keptSeconds * 1000) ?? coarsest
  const step = Math.min(stepSeconds, coarsest.stepSeconds)
  const first = Math.max(floorTo(fromMs / 1000, fineLevel.stepSeconds), newest - coarsest.keptSeconds)
  const windows: number[] = []
  for (let at = first; at < newest; at += step) windows.push(at)
  return [...windows, newest]
}

/** The share of one of `count` windows; all shares together are the whole, to the last request. */
export function shareOf(tally: Tally, index: number, count: number): Tally {
  return tally.map((total) => Math.floor((total * (index + 1)) / count) - Math.floor((total * index) / count))
}

export type Asked = Pick<TrafficSample, 'requests' | 'bytesIn' | 'bytesOut' | 'latency'>

export const nothingAsked: Asked = { requests: statusClasses.map(() => 0), bytesIn: 0, bytesOut: 0, latency: null }

export function askedIn(tally: Tally): Asked {
  const { byClass, bytesIn, bytesOut } = windowOf(tally)
  const latency = encodeCounts(latencyOf(tally))
  return {
    requests: statusClasses.map((name) => byClass[name]),
    bytesIn,
    bytesOut,
    latency: latency.length === 0 ? null : latency,
  }
}

export const isEmpty = (tally: Tally): boolean => tally.every((count) => count === 0)
