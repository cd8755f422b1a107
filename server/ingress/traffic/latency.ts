/**
 * Latencies in buckets that grow by a fixed factor: four an octave from 1/8 ms to 131 s, as in an HDR histogram of low resolution.
 * A bucket's middle is at most 9.1 % (2^(1/8)) away from whatever fell into it. What is faster or slower than that has a bucket each.
 */
const LOWEST_LOG2 = -3
const HIGHEST_LOG2 = 17
export const BUCKETS_PER_OCTAVE = 4
const OVERFLOW = 1 + (HIGHEST_LOG2 - LOWEST_LOG2) * BUCKETS_PER_OCTAVE
const LOWEST_MS = 2 ** LOWEST_LOG2
const HIGHEST_MS = 2 ** HIGHEST_LOG2

export const LATENCY_BUCKETS = OVERFLOW + 1

/** The bucket of a duration in milliseconds. */
export function latencyBucket(ms: number): number {
  if (!(ms >= LOWEST_MS)) return 0
  return ms >= HIGHEST_MS ? OVERFLOW : 1 + Math.floor((Math.log2(ms) - LOWEST_LOG2) * BUCKETS_PER_OCTAVE)
}

/** The latency in milliseconds that this share (0 to 1) of the counted answers did not exceed, by nearest rank; 0 where nothing was counted. */
export function latencyAt(share: number, countIn: (bucket: number) => number): number {
  let total = 0
  for (let bucket = 0; bucket < LATENCY_BUCKETS; bucket++) total += countIn(bucket)
  const rank = Math.max(1, Math.ceil(share * total))
  let counted = 0
  for (let bucket = 0; bucket < LATENCY_BUCKETS; bucket++) {
    counted += countIn(bucket)
    if (counted >= rank) return bucketMiddleMs(bucket)
  }
  return 0
}

/** What stands for whatever fell into a bucket, in milliseconds. */
export function bucketMiddleMs(bucket: number): number {
  if (bucket === 0) return LOWEST_MS
  if (bucket === OVERFLOW) return HIGHEST_MS
  return 2 ** (LOWEST_LOG2 + (bucket - 0.5) / BUCKETS_PER_OCTAVE)
}

/** Where a bucket ends, in milliseconds: what is exactly as long is in the next one. */
export const bucketEndMs = (bucket: number): number =>
  bucket >= OVERFLOW ? Number.POSITIVE_INFINITY : 2 ** (LOWEST_LOG2 + bucket / BUCKETS_PER_OCTAVE)
