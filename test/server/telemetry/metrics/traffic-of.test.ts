import { describe, expect, test } from 'vitest'
import { addEncoded, encodeCounts } from '../../../../server/telemetry/metrics/counts-codec.ts'
import { asked, type EntryTally, shareOf, tallyKey, windowsBetween } from '../../../../server/telemetry/metrics/traffic-of.ts'
import { emptyTally, type Tally } from '../../../../server/telemetry/traffic/tally.ts'

const tallyWith = (count: number): Tally => emptyTally().map((_, index) => (index % 7 === 2 ? count + index : 0))
const entry = (count: number, fields: Partial<EntryTally> = {}): EntryTally => ({
  ...{ epoch: 'e', entry: 'srv-a-00001', beganAt: 1, service: 'srv-a', tally: tallyWith(count) },
  ...fields,
})

describe('what is new', () => {
  test('is counted from nothing for an entry that is not known, and from the last time for one that is', () => {
    expect(asked([entry(5)], () => undefined).get('srv-a')).toEqual(tallyWith(5))
    const known = new Map([[tallyKey(entry(5)), tallyWith(5)]])
    const more = asked([entry(8)], (key) => known.get(key)).get('srv-a')
    expect(more?.[2]).toBe(3)
  })

  test('is nothing where nothing has changed', () => {
    expect(asked([entry(5)], () => tallyWith(5)).size).toBe(0)
  })

  test('is summed over instances and ingresses, of which the same instance is two entries', () => {
    const entries = [entry(1), entry(2, { epoch: 'f' }), entry(4, { entry: 'srv-a-00002' }), entry(8, { beganAt: 2 })]
    expect(asked(entries, () => undefined).get('srv-a')?.[2]).toBe(1 + 2 + 4 + 8 + 4 * 2)
  })
})

describe('the windows of what was counted', () => {
  const newest = 1_000_000

  test('are the newest one where somebody looked', () => {
    expect(windowsBetween((newest - 1) * 1000, (newest + 9) * 1000, newest)).toEqual([newest])
  })

  test.each([
    [60, 10],
    [3600, 10],
    [7200, 60],
    [4 * 86_400, 3600],
  ])('are those of a gap of %i seconds, as fine as is kept of it', (gap, step) => {
    const windows = windowsBetween((newest + 10 - gap) * 1000, (newest + 10) * 1000, newest)
    expect(windows.at(-1)).toBe(newest)
    expect((windows[1] ?? 0) - (windows[0] ?? 0)).toBe(step)
    expect(windows[0]).toBe(newest + 10 - gap)
    expect(windows.length).toBeLessThanOrEqual(Math.ceil(gap / step) + 1)
  })

  test('do not reach back further than hours are kept', () => {
    const windows = windowsBetween(0, (newest + 10) * 1000 + 400 * 86_400_000, newest + 400 * 86_400)
    expect(windows.length).toBeLessThanOrEqual(30 * 24 + 1)
  })

  test('share out everything, to the last request', () => {
    for (const [count, windows] of [
      [1, 7],
      [6, 7],
      [1000, 360],
      [123_456, 13],
    ] as const) {
      const sum = emptyTally()
      for (let index = 0; index < windows; index++) {
        const share = shareOf(tallyWith(count), index, windows)
        for (const [at, value] of share.entries()) sum[at] = (sum[at] ?? 0) + value
      }
      expect(sum).toEqual(tallyWith(count))
    }
  })
})

describe('packed counts', () => {
  test('are the same when they are unpacked, of any size and place', () => {
    let seed = 1
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    for (let round = 0; round < 500; round++) {
      const counts = new Float64Array(95)
      for (let index = 0; index < random(40); index++) counts[random(95)] = random(2 ** (1 + random(30))) * 2 ** random(22)
      const unpacked = new Float64Array(95)
      addEncoded(unpacked, encodeCounts(counts))
      expect(unpacked).toEqual(counts)
    }
  })

  test('of nothing take nothing, and bytes that are none add nothing', () => {
    expect(encodeCounts(new Float64Array(95)).length).toBe(0)
    for (const bytes of [[255], [255, 255, 255], [200, 200, 1, 5], [5]]) {
      const counts = new Float64Array(95)
      addEncoded(counts, Uint8Array.from(bytes))
      expect(counts.every((count) => count === 0)).toBe(true)
    }
  })
})
