import { describe, expect, test } from 'vitest'
import type { Reading } from '../../../../server/telemetry/metrics/readings.ts'
import { type Before, usageOf } from '../../../../server/telemetry/metrics/usage-of.ts'

const reading = (instance: string, atMs: number, cpuUs: number): Reading => ({ service: 's', instance, atMs, cpuUs, memoryBytes: 1000 })
const lookAt = (atMs: number, ...readings: Reading[]): Before => ({ atMs, readings: new Map(readings.map((one) => [one.instance, one])) })
const cpu = (readings: Reading[], last: Before | undefined) => {
  const { total, instances } = usageOf(0, readings, last).get('s') ?? { total: undefined, instances: [] }
  return { total: total && [total.cpuUs, total.cpuMs], instances: instances.map(({ sample }) => [sample.cpuUs, sample.cpuMs]) }
}

test('the disk of a service is counted once, however many instances have it', () => {
  const disk = { usedBytes: 30, sizeBytes: 100 }
  const readings = [{ ...reading('a', 0, 0), disk }, { ...reading('b', 0, 0), disk }, reading('job-c', 0, 0)]
  expect(usageOf(0, readings, undefined).get('s')?.total).toMatchObject({ disk: 30, diskSize: 100 })
  expect(usageOf(0, [reading('job-c', 0, 0), ...readings], undefined).get('s')?.total).toMatchObject({ disk: 30, diskSize: 100 })
})

describe('processor use', () => {
  test('is what was used between two looks', () => {
    expect(cpu([reading('a', 20_000, 5_000_000)], lookAt(10_000, reading('a', 10_000, 2_000_000)))).toEqual({
      total: [3_000_000, 10_000],
      instances: [[3_000_000, 10_000]],
    })
  })

  test('is not known at the first look, nor after a gap, but memory is', () => {
    for (const last of [undefined, lookAt(0, reading('a', 0, 1)), lookAt(0)]) {
      const total = usageOf(0, [reading('a', 60_000, 5_000_000)], last).get('s')?.total
      expect(total).toMatchObject({ cpuUs: 0, cpuMs: 0, cpuPeak: 0, memory: 1000, samples: 1 })
    }
  })

  test('of an instance that was not there at the last look is all that it has used', () => {
    expect(cpu([reading('b', 20_000, 700)], lookAt(10_000)).instances).toEqual([[700, 10_000]])
  })

  test('of one that was started anew begins at zero again', () => {
    expect(cpu([reading('a', 20_000, 300)], lookAt(10_000, reading('a', 10_000, 9000))).instances).toEqual([[300, 10_000]])
  })

  test('of a service is that of all its instances, where each is known', () => {
    const last = lookAt(10_000, reading('a', 10_000, 0), reading('b', 10_000, 0))
    expect(cpu([reading('a', 20_000, 1000), reading('b', 20_000, 2000)], last).total).toEqual([3000, 10_000])
    const stale = lookAt(10_000, reading('a', 10_000, 0), reading('b', -50_000, 0))
    expect(cpu([reading('a', 20_000, 1000), reading('b', 20_000, 2000)], stale).total).toEqual([0, 0])
  })
})
