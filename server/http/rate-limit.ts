import { AppError } from '../../shared/error.ts'

/** What the limiter says of one request, for the RateLimit headers. */
export interface RateState {
  limit: number
  remaining: number
  /** Seconds until the whole limit is there again. */
  resetSeconds: number
}

export interface RateLimiter {
  /** Counts one request of `key`. @throws AppError `rate_limited` when it has none left. */
  take(key: string): RateState
  /** The state of `key` without counting. */
  peek(key: string): RateState
}

/** Stands for "no limit": far above what one machine can answer in a minute. */
const UNLIMITED_PER_MINUTE = 1_000_000_000
const MS_PER_MINUTE = 60_000
/** Buckets kept before full ones, which say nothing, are dropped. */
const MAX_BUCKETS = 20_000

interface Bucket {
  tokens: number
  filledAt: number
}

/**
 * A token bucket for each credential or address: `perMinute` at once, refilled evenly. In memory, because a restart that forgives
 * a minute's requests does no harm. `perMinute` 0 is no limit.
 */
export function createRateLimiter(perMinute: number, now: () => number): RateLimiter {
  const limit = perMinute === 0 ? UNLIMITED_PER_MINUTE : perMinute
  const perMs = limit / MS_PER_MINUTE
  const buckets = new Map<string, Bucket>()

  const filled = (key: string): Bucket => {
    const time = now()
    let bucket = buckets.get(key)
    if (bucket === undefined) {
      if (buckets.size >= MAX_BUCKETS) dropFull(buckets, { time, perMs, limit })
      bucket = { tokens: limit, filledAt: time }
      buckets.set(key, bucket)
    }
    bucket.tokens = Math.min(limit, bucket.tokens + Math.max(0, time - bucket.filledAt) * perMs)
    bucket.filledAt = time
    return bucket
  }
  const stateOf = ({ tokens }: Bucket): RateState => ({
    limit,
    remaining: Math.floor(tokens),
    resetSeconds: Math.ceil((limit - tokens) / perMs / 1000),
  })

  return {
    take(key) {
      const bucket = filled(key)
      if (bucket.tokens < 1) {
        const retryAfterSeconds = Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1000))
        throw new AppError('rate_limited', `Too many requests. Try again in ${retryAfterSeconds} s.`, { retryAfterSeconds })
      }
      bucket.tokens -= 1
      return stateOf(bucket)
    },
    peek: (key) => stateOf(filled(key)),
  }
}

/** Drops the buckets that would be full by now; should all be in use, the oldest goes, so that memory stays bounded. */
function dropFull(buckets: Map<string, Bucket>, { time, perMs, limit }: { time: number; perMs: number; limit: number }): void {
  for (const [key, { tokens, filledAt }] of buckets) {
    if (tokens + (time - filledAt) * perMs >= limit) buckets.delete(key)
  }
  const oldest = buckets.keys().next()
  if (buckets.size >= MAX_BUCKETS && !oldest.done) buckets.delete(oldest.value)
}
