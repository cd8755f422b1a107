/**
 * Whether a new release does so much worse than the one before that it is to be taken back. The figures of both stand in the reason.
 *
 * Where the limits come from: with 20 requests and the default of 20 points it takes 4 errors more than the old release would have
 * made. Of a release whose true error rate is 1 %, 4 errors in 20 come by chance in 1 of 23,000 samples (binomial); with fewer requests
 * single errors would decide. A rate three times the old one keeps a release from being blamed for what failed before: a service at
 * 30 % errors is not taken back for 50 %. One death may be an accident; after the second a new instance has failed again that had been
 * healthy, or two of them have failed.
 */

export interface Figures {
  requests: number
  /** 5xx, of the instance itself or given by the ingress in its place (502, 503, 504), and answers broken off. */
  errors: number
  crashes: number
}

export interface Comparison {
  before: Figures
  after: Figures
  /** Percentage points by which the new error rate may lie above the old one's. */
  errorRateThreshold: number
  elapsedMs: number
}

/** The old release's rate is taken over this long before the switch: long enough to hold requests, short enough to be about today. */
export const BASELINE_MS = 5 * 60_000

const LEAST_REQUESTS = 20
const LEAST_RATIO = 3
const LEAST_CRASHES = 2

export function judgeRelease({ before, after, errorRateThreshold, elapsedMs }: Comparison): string | undefined {
  const seconds = Math.max(1, Math.round(elapsedMs / 1000))
  if (after.crashes >= LEAST_CRASHES && before.crashes === 0) {
    return `Instances of the new release died ${after.crashes} times within ${seconds} s of the switch, those of the old one not once.`
  }
  const [oldRate, newRate] = [rateOf(before), rateOf(after)]
  const isWorse = newRate - oldRate >= errorRateThreshold && newRate >= LEAST_RATIO * oldRate
  if (after.requests < LEAST_REQUESTS || !isWorse) return undefined
  return `${shareOf(after)} of the new release failed in the ${seconds} s since the switch, ${shareOf(before)} of the old one in the minutes before.`
}

const rateOf = ({ requests, errors }: Figures): number => (requests === 0 ? 0 : (100 * errors) / requests)

const shareOf = (figures: Figures): string =>
  `${figures.errors} of ${figures.requests} ${figures.requests === 1 ? 'request' : 'requests'} (${rateOf(figures).toFixed(1)} %)`
