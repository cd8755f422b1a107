import { BUCKETS_PER_OCTAVE, bucketEndMs, bucketMiddleMs, LATENCY_BUCKETS } from '../../ingress/traffic/latency.ts'
import type { Sample } from './exposition.ts'

const MS_PER_SECOND = 1000

/** Each octave from 1/8 ms to 131 s is four of the ingress's buckets, so counts are exact. The sum, of their middles, is right within 9.1 %. */
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

/** OpenMetrics writes a float with its fraction. */
const floatOf = (value: number): string => (Number.isInteger(value) ? `${value}.0` : String(value))
