import type { Priority } from '../../port/workload.ts'
import type { ThrottlingSample } from './throttling-log.ts'

/** What was seen of a service since the last look; the share counts for one that yields only, and is 0 for all others. */
export interface Activity extends ThrottlingSample {
  /** Processor time it had, of what it may have. */
  usedShare: number
}

const LOWERED_SHARE = 0.5
const RECOVERED_SHARE = 0.1
/** One that shares its cores with others may get too little to come to its limit. */
const RECOVERED_USE = 0.8
/** Of a tenth of a second each. */
const MIN_PERIODS = 3
/** Between two looks. An app that has come to its limit of processes by chance does not try again and again. */
const MANY_REFUSED_FORKS = 10

/** Who is to yield from now on, and who no longer, by the share of their active time that they were at their limit. */
export function planCpuWeights(activities: readonly Activity[], lowered: ReadonlySet<string>): { parent: string; priority: Priority }[] {
  const rising = activities.filter((one) => lowered.has(one.parent) && hasRecovered(one))
  const falling = activities.filter((one) => !lowered.has(one.parent) && isAtLimit(one))
  return [
    ...rising.map(({ parent }) => ({ parent, priority: 'live' as const })),
    ...falling.map(({ parent }) => ({ parent, priority: 'background' as const })),
  ]
}

/** Who may have come to its limit just before it was looked at, so that it would not be known before the look after the next. */
export function suspectsOf(activities: readonly ThrottlingSample[], lowered: ReadonlySet<string>): Set<string> {
  const atTimesLimited = activities.filter((one) => !isAtLimit(one) && one.throttledPeriods + one.refusedForks > 0)
  return new Set(atTimesLimited.map(({ parent }) => parent)).difference(lowered)
}

const throttledShare = ({ periods, throttledPeriods }: ThrottlingSample): number => (periods === 0 ? 0 : throttledPeriods / periods)

const isAtLimit = (one: ThrottlingSample): boolean =>
  one.refusedForks >= MANY_REFUSED_FORKS || (one.periods >= MIN_PERIODS && throttledShare(one) >= LOWERED_SHARE)

const hasRecovered = (one: Activity): boolean =>
  one.refusedForks < MANY_REFUSED_FORKS && throttledShare(one) < RECOVERED_SHARE && one.usedShare < RECOVERED_USE
