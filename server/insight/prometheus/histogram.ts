import { BUCKETS_PER_OCTAVE, bucketEndMs, bucketMiddleMs, LATENCY_BUCKETS } from '../../ingress/traffic/latency.ts'
import type { Sample } from './exposition.ts'

const MS_PER_SECOND = 1000

/**
 * Latencies as a histogram in seconds, with a bucket an octave from 1/8 ms to 131 s: four of the ingress's buckets each, so that the counts
 * are exact. The sum is that of the middles of the ingress's buckets, within 9.1 %.
 */
export function histogramSamples(labels: Readonly<Record<string, string>>, counts: ArrayLike<number>): Sample[] {
  const samples: Sample[] = []
  let count = 0
  let sumMs = 0
  for (let bucket = 0; bucket < LATENCY_BUCKETS; bucket++) {
    const here = counts[bucket] ?? 0
    count += here
    sumMs += here * bucketMiddleMs(bucket)
    const isLast = bucket === LATENCY_BUCKETS - 1
    if (!isLast && bucket % BUCKETS_PER_OCTAVE !== 0) continue
    const le = isLast ? '+Inf' : floatOf(bucketEndMs(bucket) / MS_PER_SECOND)
    samples.push({ suffix: '_bucket', labels: { ...labels, le }, value: count })
  }
  return [...samples, { suffix: '_sum', labels, value: sumMs / MS_PER_SECOND }, { suffix: '_count', labels, value: count }]
}

/** OpenMetrics wants a number that may have a fraction to have one. */
const floatOf = (value: number): string => (Number.isInteger(value) ? `${value}.0` : String(value))
