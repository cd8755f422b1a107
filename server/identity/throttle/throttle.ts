import { AppError } from '../../../shared/error.ts'

export const THROTTLE_WINDOW_MS = 15 * 60_000
/** Counters kept; beyond, the oldest are forgotten so that memory stays bounded. */
const MAX_COUNTERS = 50_000

export interface Throttle {
  /** Counts an attempt before its outcome is known, so that many at once cannot slip through together. @throws AppError `rate_limited`. */
  begin(keys: readonly string[]): void
  takeBack(key: string): void
  reset(key: string): void
}

export interface Limit {
  failures: number
  windowMs: number
}

interface Counter {
  failures: number
  since: number
}

/** Counts in memory: a restart forgives, and cannot be caused by whom it would help. */
export function createThrottle(limit: number | ((key: string) => Limit), now: () => number, refusal = 'Too many failed logins.'): Throttle {
  const limitOf = typeof limit === 'number' ? () => ({ failures: limit, windowMs: THROTTLE_WINDOW_MS }) : limit
  const counters = new Map<string, Counter>()
  const current = (key: string): Counter | undefined => {
    const counter = counters.get(key)
    if (counter === undefined || now() - counter.since < limitOf(key).windowMs) return counter
    counters.delete(key)
    return undefined
  }
  return {
    begin(keys) {
      for (const key of keys) {
        const counter = current(key)
        const { failures, windowMs } = limitOf(key)
        if (counter !== undefined && counter.failures >= failures) throw tooMany(refusal, counter.since + windowMs - now())
      }
      for (const key of keys) {
        const counter = current(key)
        if (counter === undefined) counters.set(key, { failures: 1, since: now() })
        else counter.failures += 1
      }
      forgetOldest(counters)
    },
    takeBack(key) {
      const counter = current(key)
      if (counter === undefined) return
      counter.failures -= 1
      // Attempts that count for nothing must not push out the counters of those that do.
      if (counter.failures <= 0) counters.delete(key)
    },
    reset: (key) => void counters.delete(key),
  }
}

function tooMany(refusal: string, waitMs: number): AppError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000))
  const minutes = Math.ceil(retryAfterSeconds / 60)
  return new AppError('rate_limited', `${refusal} Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`, {
    retryAfterSeconds,
  })
}

function forgetOldest(counters: Map<string, Counter>): void {
  for (const key of counters.keys()) {
    if (counters.size <= MAX_COUNTERS) return
    counters.delete(key)
  }
}
