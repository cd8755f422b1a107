import { describe, expect, test } from 'vitest'
import type { TrafficCounts, TrafficEntry } from '../../../../server/ingress/traffic/counts.ts'
import { LATENCY_BUCKETS, latencyBucket } from '../../../../server/ingress/traffic/latency.ts'
import { createSampler } from '../../../../server/telemetry/traffic/sampler.ts'
import { KEPT_MS } from '../../../../server/telemetry/traffic/series.ts'

const START = 1_000_000_000

function entry(instanceId: string, answered: number, over: Partial<TrafficEntry> = {}): TrafficEntry {
  const latency = Array<number>(LATENCY_BUCKETS).fill(0)
  latency[latencyBucket(10)] = answered
  return {
    ...{ serviceId: 'srv-a', instanceId, beganAt: START, byClass: [0, 0, answered, 0, 0, 0], failures: [0, 0, 0], cutOff: 0, brokenOff: 0 },
    ...{ receivedBytes: answered * 10, sentBytes: answered * 100, latency, inFlight: 0, tunnels: 0, isGone: false },
    ...over,
  }
}
const counts = (epoch: string, revision: number, ...entries: TrafficEntry[]): TrafficCounts => ({ epoch, revision, entries })

describe('what was asked since a time', () => {
  test('is the difference to the last reading before it', () => {
    const sampler = createSampler()
    for (let second = 0; second <= 10; second++) sampler.take(counts('one', second, entry('i-1', second * 5)), START + second * 1000)
    expect(sampler.since(['i-1'], START + 6000)).toMatchObject({ requests: 20, bytesIn: 200, bytesOut: 2000 })
    expect(sampler.since(['i-1'], START + 6500).requests).toBe(20)
    expect(sampler.since(['i-1'], START + 10_000).requests).toBe(0)
  })

  test('is, where nothing older may be in it, the difference to the first reading after it', () => {
    const sampler = createSampler()
    for (let second = 0; second <= 10; second++) sampler.take(counts('one', second, entry('i-1', second * 5)), START + second * 1000)
    expect(sampler.after(['i-1'], START + 6500).requests).toBe(15)
    expect(sampler.after(['i-1'], START + 10_000).requests).toBe(0)
    // Nothing has been read since, so nothing was counted since.
    expect(sampler.after(['i-1'], START + 20_000).requests).toBe(0)
  })

  test('has percentiles of that time alone', () => {
    const sampler = createSampler()
    const slow = entry('i-1', 100)
    slow.latency[latencyBucket(1000)] = 300
    slow.byClass[2] = 400
    sampler.take(counts('one', 1, entry('i-1', 100)), START)
    sampler.take(counts('one', 2, slow), START + 1000)
    const { p50Ms, p99Ms } = sampler.since(['i-1'], START + 500)
    expect(p50Ms).toBeGreaterThan(900)
    expect(p99Ms).toBeLessThan(1100)
  })

  test('begins at nothing for an instance that is newer', () => {
    const sampler = createSampler()
    sampler.take(counts('one', 1, entry('i-new', 7, { beganAt: START + 500 })), START + 1000)
    expect(sampler.since(['i-new'], START).requests).toBe(7)
  })

  test('begins at the first reading where the time before is not known', () => {
    const sampler = createSampler()
    sampler.take(counts('one', 1, entry('i-1', 1000)), START + 1000)
    sampler.take(counts('one', 2, entry('i-1', 1003)), START + 2000)
    expect(sampler.since(['i-1'], START + 1).requests).toBe(3)
  })

  test('is added over instances, each named once or more', () => {
    const sampler = createSampler()
    sampler.take(counts('one', 1, entry('i-1', 1), entry('i-2', 2), entry('i-3', 4)), START + 1000)
    expect(sampler.since(['i-1', 'i-2', 'i-1', 'i-none'], START).requests).toBe(3)
  })

  test('is added over two ingress processes during a hand-over', () => {
    const sampler = createSampler()
    sampler.take(counts('old', 1, entry('i-1', 10)), START)
    sampler.take(counts('old', 2, entry('i-1', 15)), START + 1000)
    sampler.take(counts('new', 1, entry('i-1', 2, { beganAt: START + 900 })), START + 1000)
    expect(sampler.since(['i-1'], START).requests).toBe(17)
    expect(sampler.since(['i-1'], START + 500).requests).toBe(7)
    expect(sampler.known('old')).toEqual({ epoch: 'old', revision: 2 })
  })

  test('tells the failures of the ingress and of instances apart', () => {
    const sampler = createSampler()
    const failing = entry('i-1', 0, { byClass: [3, 1, 0, 2, 4, 9], failures: [1, 2, 3], cutOff: 2, brokenOff: 1 })
    sampler.take(counts('one', 1, failing), START + 1000)
    expect(sampler.since(['i-1'], START)).toEqual({
      ...{ requests: 19, byClass: { none: 3, '1xx': 1, '2xx': 0, '3xx': 2, '4xx': 4, '5xx': 9 }, ingressErrors: 6, brokenOff: 1 },
      ...{ p50Ms: 0, p95Ms: 0, p99Ms: 0, bytesIn: 0, bytesOut: 0 },
    })
  })
})

describe('memory', () => {
  test('windows of any length stay right within ten seconds while readings are thinned', () => {
    const sampler = createSampler()
    const seconds = 3600
    for (let second = 0; second <= seconds; second++) sampler.take(counts('one', second, entry('i-1', second)), START + second * 1000)
    const [series] = [...sampler.all()]
    expect(series?.samples.length).toBeLessThan(250)
    for (const back of [1, 30, 80, 300, 800]) {
      const { requests } = sampler.since(['i-1'], START + (seconds - back) * 1000)
      expect(requests).toBeGreaterThanOrEqual(back)
      expect(requests).toBeLessThanOrEqual(back + 10)
    }
  })

  test('an instance nobody asks for any more is known for as long as its ingress is', () => {
    const sampler = createSampler()
    sampler.take(counts('one', 1, entry('i-1', 5), entry('i-gone', 5, { isGone: true })), START)
    const later = START + 3 * KEPT_MS
    for (let at = START; at < later; at += 60_000) sampler.take(counts('one', 2), at)
    expect([...sampler.all()].map(({ instanceId }) => instanceId)).toEqual(['i-1'])
    sampler.take(counts('one', 3, entry('i-1', 6)), later)
    expect(sampler.since(['i-1'], later - 1000).requests).toBe(1)
  })

  test('an ingress that has ended is forgotten', () => {
    const sampler = createSampler()
    sampler.take(counts('old', 1, entry('i-1', 5)), START)
    for (let at = START; at < START + 3 * KEPT_MS; at += 60_000) sampler.take(counts('new', 1), at)
    expect([...sampler.all()]).toEqual([])
    expect(sampler.known('old')).toBeUndefined()
  })
})
