export interface RateState {
  limit: number
  remaining: number
  resetSeconds: number
  retryAfterSeconds?: number
}

export interface RateLimiter {
  take(key: string): RateState
  peek(key: string): RateState
}

const UNLIMITED_PER_MINUTE = 1_000_000_000
const MS_PER_MINUTE = 60_000
/** Buckets of one generation; two are kept. */
const MAX_BUCKETS = 20_000

interface Bucket {
  tokens: number
  filledAt: number
}

/** Token buckets of `perMinute`; 0 is no limit. A bucket untouched for a generation has filled up, so it is forgotten. */
export function createRateLimiter(perMinute: number, now: () => number): RateLimiter {
  const limit = perMinute === 0 ? UNLIMITED_PER_MINUTE : perMinute
  const perMs = limit / MS_PER_MINUTE
  let current = new Map<string, Bucket>()
  let previous = new Map<string, Bucket>()
  let begunAt = now()

  const bucketOf = (key: string, time: number): Bucket => {
    if (current.size >= MAX_BUCKETS || time - begunAt >= MS_PER_MINUTE) {
      previous = current
      current = new Map()
      begunAt = time
    }
    let bucket = current.get(key)
    if (bucket === undefined) {
      bucket = previous.get(key) ?? { tokens: limit, filledAt: time }
      current.set(key, bucket)
    }
    return bucket
  }
  const filled = (key: string): Bucket => {
    const time = now()
    const bucket = bucketOf(key, time)
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
      if (bucket.tokens < 1) return { ...stateOf(bucket), retryAfterSeconds: Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1000)) }
      bucket.tokens -= 1
      return stateOf(bucket)
    },
    peek: (key) => stateOf(filled(key)),
  }
}
