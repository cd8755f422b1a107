import type { Priority } from '../../port/workload.ts'
import type { ThrottlingSample } from './throttling-log.ts'

export interface Activity extends ThrottlingSample {
  usedShare: number
}

const LOWERED_SHARE = 0.5
const RECOVERED_SHARE = 0.1
/** One that shares its cores with others may get too little to come to its limit. */
const RECOVERED_USE = 0.8
/** A period is a tenth of a second. */
const MIN_PERIODS = 3
const MANY_REFUSED_FORKS = 10

export function planCpuWeights(activities: readonly Activity[], lowered: ReadonlySet<string>): { parent: string; priority: Priority }[] {
  const rising = activities.filter((one) => lowered.has(one.parent) && hasRecovered(one))
  const falling = activities.filter((one) => !lowered.has(one.parent) && isAtLimit(one))
  return [
    ...rising.map(({ parent }) => ({ parent, priority: 'live' as const })),
    ...falling.map(({ parent }) => ({ parent, priority: 'background' as const })),
  ]
}

export function suspectsOf(activities: readonly ThrottlingSample[], lowered: ReadonlySet<string>): Set<string> {
  const atTimesLimited = activities.filter((one) => !isAtLimit(one) && one.throttledPeriods + one.refusedForks > 0)
  return new Set(atTimesLimited.map(({ parent }) => parent)).difference(lowered)
}

const throttledShare = ({ periods, throttledPeriods }: ThrottlingSample): number => (periods === 0 ? 0 : throttledPeriods / periods)

const isAtLimit = (one: ThrottlingSample): boolean =>
  one.refusedForks >= MANY_REFUSED_FORKS || (one.periods >= MIN_PERIODS && throttledShare(one) >= LOWERED_SHARE)

const hasRecovered = (one: Activity): boolean =>
  one.refusedForks < MANY_REFUSED_FORKS && throttledShare(one) < RECOVERED_SHARE && one.usedShare < RECOVERED_USE
