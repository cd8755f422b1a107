import { appendFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { spawnProcess } from '../../../../server/platform/process/spawn.ts'
import { type Collector, createCollector } from '../../../../server/telemetry/logs/collector.ts'
import type { LogLine } from '../../../../server/telemetry/logs/line.ts'
import {
  fullAllowance,
  keptBytes,
  type LogRate,
  maxUnread,
  readableBytes,
  refilled,
  spent,
} from '../../../../server/telemetry/logs/rate.ts'
import { type Fixture, followedFile, makeStore, until } from './fixture.ts'

const rate: LogRate = { linesPerSecond: 100, bytesPerSecond: 10_000, burstSeconds: 2, maxLagSeconds: 1 }

describe('an allowance', () => {
  test('begins full, is spent by lines and by bytes, and comes back with time, never beyond full', () => {
    const full = fullAllowance(rate, 0)
    expect(full).toMatchObject({ lines: 200, bytes: 20_000 })
    const less = spent(full, { lines: 150, bytes: 3000 })
    expect(less).toMatchObject({ lines: 50, bytes: 17_000, lineBytes: 20 })
    expect(readableBytes(less)).toBe(1000)
    expect(refilled(less, rate, 500)).toMatchObject({ lines: 100, bytes: 20_000 })
    expect(refilled(less, rate, 60_000)).toMatchObject({ lines: 200, bytes: 20_000 })
    expect(readableBytes(spent(full, { lines: 500, bytes: 3000 }))).toBeLessThan(0)
  })

  test('keeps of a flood what can be read within the lag, be its lines short or long', () => {
    const ofLines = (lineBytes: number) => ({ ...fullAllowance(rate, 0), lineBytes })
    expect(keptBytes(ofLines(10), rate)).toBe(1000)
    expect(keptBytes(ofLines(1000), rate)).toBe(10_000)
    expect(maxUnread(ofLines(10), rate)).toBe(3000)
  })
})

describe('a collector with a rate', () => {
  let fixture: Fixture
  let collector: Collector
  const live: LogLine[] = []
  beforeEach(() => {
    fixture = makeStore()
    live.length = 0
    fixture.store.listen((lines) => live.push(...lines))
  })
  afterEach(async () => {
    await collector.stop()
    fixture.remove()
  })
  const pathOf = (name: string) => join(fixture.dir, name)
  const output = (name: string, own = rate) =>
    followedFile({ path: pathOf(name), resource: `srv-${name}`, instance: `srv-${name}-1`, rate: own })
  const of = (name: string) => live.filter(({ resource }) => resource === `srv-${name}`)
  const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `line ${from + index}\n`).join('')

  test('stores a burst whole, and what comes a little faster a little later', async () => {
    collector = createCollector({ store: fixture.store, pollMs: 2 })
    collector.follow(output('burst'))
    appendFileSync(pathOf('burst'), lines(0, 250))
    await until(() => of('burst').length === 250)
    expect(of('burst').map(({ message }) => message)).toEqual(lines(0, 250).trimEnd().split('\n'))
  })

  test('leaves out of a flood what is too much, says how much, and keeps its newest lines', async () => {
    collector = createCollector({ store: fixture.store, pollMs: 2 })
    collector.follow(output('flood'))
    appendFileSync(pathOf('flood'), lines(0, 200))
    await until(() => of('flood').length >= 190)
    appendFileSync(pathOf('flood'), lines(200, 100_000))
    await until(() => of('flood').some(({ message }) => message === 'line 99999'))
    const told = of('flood').filter(({ message }) => message.includes('were left out'))
    expect(told).toHaveLength(1)
    expect(told[0]?.message).toMatch(
      /^Output came faster than 100 lines or 10 KB a second, which is what is kept: \d+ bytes \(about \d+ lines\)/,
    )
    expect(of('flood').length).toBeLessThan(600)
  })

  test('drains everything that is left when it is told to', async () => {
    collector = createCollector({ store: fixture.store, pollMs: 1000 })
    collector.follow(output('drained', { ...rate, maxLagSeconds: 100 }))
    appendFileSync(pathOf('drained'), lines(0, 1500))
    await collector.unfollow(pathOf('drained'), { drain: true })
    expect(of('drained')).toHaveLength(1500)
  })

  test('reads a neighbour of a flood that never pauses, whose file takes little space', async () => {
    collector = createCollector({ store: fixture.store, pollMs: 20 })
    const flood = pathOf('endless')
    collector.follow(output('endless'))
    collector.follow(output('neighbour'))
    const child = spawnProcess(['yes', 'a line of the flood'], { stdout: { appendTo: flood }, env: { PATH: '/usr/bin:/bin' } })
    try {
      await until(() => of('endless').length > 100)
      for (let n = 0; n < 20; n++) {
        appendFileSync(pathOf('neighbour'), `${n}\n`)
        await until(() => of('neighbour').length === n + 1)
      }
      await until(() => statSync(flood).size > 512 * 1024 * 1024)
      expect(statSync(flood).blocks * 512).toBeLessThan(256 * 1024 * 1024)
    } finally {
      child.kill('SIGKILL')
      await child.exited
    }
  })
})
