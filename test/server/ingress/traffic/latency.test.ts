import { expect, test } from 'vitest'
import { LATENCY_BUCKETS, latencyAt, latencyBucket } from '../../../../server/ingress/traffic/latency.ts'
import { randomFrom } from '../random.ts'

const LARGEST_ERROR = 2 ** (1 / 8) - 1 + 1e-9

function counted(values: readonly number[]): number[] {
  const counts = Array<number>(LATENCY_BUCKETS).fill(0)
  for (const value of values) counts[latencyBucket(value)] = (counts[latencyBucket(value)] ?? 0) + 1
  return counts
}

/** By nearest rank. */
const exactly = (sorted: readonly number[], share: number): number => sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] ?? 0

test('percentiles differ from the exact ones by at most 9.1 %', () => {
  const random = randomFrom(7)
  for (let round = 0; round < 300; round++) {
    const spread = 1 + random(20)
    const values = Array.from({ length: 1 + random(400) }, () => 0.125 * 2 ** ((random(1_000_000) / 1_000_000) * spread))
    const sorted = values.toSorted((a, b) => a - b)
    const counts = counted(values)
    for (const share of [0.5, 0.95, 0.99, 1, random(1000) / 1000]) {
      const exact = exactly(sorted, share)
      const told = latencyAt(share, (bucket) => counts[bucket] ?? 0)
      expect(Math.abs(told - exact) / exact).toBeLessThanOrEqual(LARGEST_ERROR)
    }
  }
})

test('every duration has a bucket, and longer ones no lower one', () => {
  let last = 0
  for (const ms of [Number.NaN, -1, 0, 0.1, 0.125, 0.13, 1, 15, 1000, 131_071, 131_072, 1e9, Number.POSITIVE_INFINITY]) {
    const bucket = latencyBucket(ms)
    expect(bucket).toBeGreaterThanOrEqual(last)
    expect(bucket).toBeLessThan(LATENCY_BUCKETS)
    last = bucket
  }
})

test('nothing counted is no latency', () => {
  expect(latencyAt(0.5, () => 0)).toBe(0)
})
