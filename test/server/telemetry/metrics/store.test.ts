import { existsSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { latencyBucket } from '../../../../server/ingress/traffic/latency.ts'
import { fineLevel, type Level, levels } from '../../../../server/telemetry/metrics/levels.ts'
import { pruneCoarse, pruneFine } from '../../../../server/telemetry/metrics/retention.ts'
import { rollUp } from '../../../../server/telemetry/metrics/roll-up.ts'
import { latencyOf } from '../../../../server/telemetry/metrics/values.ts'
import { openTestStore, packed, type TestStore, trafficSample, usageSample } from './store.ts'

const [, minutes, hours, days] = levels as [Level, Level, Level, Level]
const DAY = 86_400
const start = 20_000 * DAY
const noPause = async () => {}

let store: TestStore
beforeEach(() => {
  store = openTestStore()
})
afterEach(() => store.close())

/** A sweep every ten seconds, of a service and one instance of it. */
function fill(seconds: number, from = start): void {
  for (let at = from; at < from + seconds; at += 10) {
    const isSlow = at % 60 === 50
    const requests = [0, 0, isSlow ? 1 : 99, 0, 0, isSlow ? 0 : 1]
    const latency = packed(isSlow ? { [latencyBucket(900)]: 1 } : { [latencyBucket(4)]: 100 })
    store.write({
      usage: [
        { service: 'srv-a', instance: '', sample: usageSample(at) },
        { service: 'srv-a', instance: 'srv-a-1', sample: usageSample(at, { memory: at % 60, memoryPeak: at % 60, cpuPeak: at % 60 }) },
      ],
      traffic: [{ service: 'srv-a', instance: '', sample: trafficSample(at, { requests, bytesOut: 10, latency }) }],
    })
  }
}

const trafficAt = (level: Level, from: number, to: number) =>
  store.metrics.trafficOf({ services: ['srv-a'], level, start: from, end: to })[0]?.samples ?? []
const instanceAt = (level: Level, from: number, to: number) =>
  store.metrics.usageOfInstances({ services: ['srv-a'], level, start: from, end: to })[0]?.samples ?? []

const dump = () =>
  store.database.use(({ db }) => [
    db.query('SELECT * FROM usage').all(),
    db.query('SELECT * FROM traffic').all(),
    db.query('SELECT * FROM rolled').all(),
  ])

describe('coarser windows', () => {
  test('hold sums, weighed averages and peaks of the finer ones', async () => {
    fill(1200)
    await store.rollUp(start + 1200)
    const [first] = trafficAt(minutes, start, start + 60)
    expect(first).toMatchObject({ at: start, samples: 6, instances: 12, instancesPeak: 2, requests: [0, 0, 496, 0, 0, 5], bytesOut: 60 })
    const [usage] = instanceAt(minutes, start, start + 60)
    const disk = { disk: 0, diskSize: 0 }
    expect(usage).toEqual({ at: start, samples: 6, cpuUs: 30_000_000, cpuMs: 60_000, cpuPeak: 50, memory: 25, memoryPeak: 50, ...disk })
    expect(trafficAt(minutes, start, start + 1200)).toHaveLength(20)
  })

  test('have percentiles of all requests together, not averages of percentiles', async () => {
    fill(3600)
    await store.rollUp(start + 3600)
    const [hour] = trafficAt(hours, start, start + 3600)
    // One request in 501 is slow: an average over minutes of p99 would be the same, one of the maxima would not.
    expect(latencyOf(hour ?? trafficSample(0), 0.99)).toBeCloseTo(4, 0)
    expect(latencyOf(hour ?? trafficSample(0), 0.999)).toBeGreaterThan(800)
  })

  test('that are not made yet are answered from the finer level, the same', async () => {
    fill(1500)
    const before = trafficAt(minutes, start, start + 1500)
    expect(before).toHaveLength(150)
    await store.rollUp(start + 1500)
    const after = trafficAt(minutes, start, start + 1500)
    expect(after).toHaveLength(20 + 30)
    const sum = (samples: typeof after) => samples.reduce((total, { requests }) => total + (requests[2] ?? 0), 0)
    expect(sum(after)).toBe(sum(before))
  })

  test('come out the same when making them is cut off anywhere and begun again', async () => {
    fill(7200)
    await store.rollUp(start + 7200)
    const whole = dump()
    store.database.use(({ db }) => {
      for (const table of ['usage', 'traffic', 'rolled']) db.run(`DELETE FROM ${table}`)
    })
    for (let steps = 1; ; steps *= 2) {
      let left = steps
      const died = await rollUp(store.database, start + 7200, async () => {
        if (left-- === 0) throw new Error('killed')
      }).then(
        () => false,
        () => true,
      )
      if (!died) break
    }
    expect(dump()).toEqual(whole)
    await store.rollUp(start + 7200)
    expect(dump()).toEqual(whole)
  })

  test('of a day are of the service as a whole only', async () => {
    fill(1200)
    fill(60, start + DAY)
    await store.rollUp(start + 2 * DAY)
    expect(trafficAt(days, start, start + 2 * DAY)).toHaveLength(2)
    expect(store.metrics.usageOfServices({ services: ['srv-a'], level: days, start, end: start + DAY })[0]?.samples).toHaveLength(1)
    expect(instanceAt(days, start, start + DAY)).toEqual([])
    expect(instanceAt(hours, start, start + DAY)).toHaveLength(1)
  })

  test('go on after a clock that was set back', async () => {
    fill(1200, start + 10 * DAY)
    await store.rollUp(start + 10 * DAY + 1200)
    fill(1200)
    await store.rollUp(start + 1200)
    fill(600, start + 1200)
    await store.rollUp(start + 1800)
    expect(trafficAt(minutes, start + 1200, start + 1800)).toHaveLength(10)
  })
})

describe('retention', () => {
  const count = (sql: string): number =>
    store.database.use(({ db }) => db.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${sql}`).get()?.n ?? -1)

  test('keeps of each level what is promised, and nothing that is not yet in the next one goes', async () => {
    fill(7200)
    await pruneFine(store.database, start + 7200, noPause)
    expect(count('traffic_fine')).toBe(720)
    await store.rollUp(start + 7200)
    await pruneFine(store.database, start + 7200, noPause)
    expect(count('traffic_fine')).toBe(360)
    await store.rollUp(start + 10 * DAY)
    await pruneFine(store.database, start + 10 * DAY, noPause)
    await pruneCoarse(store.database, start + 10 * DAY, noPause)
    expect([count('traffic_fine'), count('traffic WHERE step = 60'), count('traffic WHERE step = 3600')]).toEqual([0, 0, 2])
    await pruneCoarse(store.database, start + 31 * DAY, noPause)
    expect(count('usage WHERE step = 3600')).toBe(0)
    expect(count("series WHERE instance <> ''")).toBe(0)
    await pruneCoarse(store.database, start + 394 * DAY, noPause)
    expect(count('traffic')).toBe(1)
    await pruneCoarse(store.database, start + 397 * DAY, noPause)
    expect(count('traffic')).toBe(0)
  })

  test('takes everything of a service that is removed, and nothing of its neighbour', async () => {
    fill(1200)
    store.write({
      usage: [{ service: 'srv-b', instance: '', sample: usageSample(start) }],
      changedTallies: ['srv-a', 'srv-a-00001', 'srv-b'].map((entry) => ({ epoch: 'e', entry, beganAt: 1, counts: packed({ 1: 1 }) })),
    })
    await store.rollUp(start + 1200)
    await store.metrics.removeService('srv-a')
    expect([count('series'), count('usage_fine'), count('traffic_fine'), count('traffic'), count('tallies')]).toEqual([1, 1, 0, 0, 1])
    expect(trafficAt(fineLevel, start, start + 1200)).toEqual([])
    fill(10, start + 1200)
    expect(trafficAt(fineLevel, start, start + 1300)).toHaveLength(1)
  })
})

describe('trouble', () => {
  test('a file that is none is set aside, and a new one begun', () => {
    store.database.close()
    writeFileSync(store.path, 'this is no database at all, whatever its name says '.repeat(200))
    expect(() => fill(10)).toThrow(/begin anew/)
    fill(10)
    expect(trafficAt(fineLevel, start, start + 10)).toHaveLength(1)
    expect(existsSync(`${store.path}.damaged`)).toBe(true)
    expect(store.logged.join()).toContain('metrics set aside')
  })

  test('a file that is damaged in the middle is set aside when that is found', async () => {
    fill(3000)
    await store.rollUp(start + 3000)
    store.database.use(({ db }) => db.run('PRAGMA wal_checkpoint(TRUNCATE)'))
    store.database.close()
    const bytes = new Uint8Array(await Bun.file(store.path).arrayBuffer())
    bytes.fill(0x5a, 4096 * 3)
    writeFileSync(store.path, bytes)
    const read = () => trafficAt(fineLevel, start, start + 3000)
    expect(read).toThrow(/begin anew/)
    expect(read()).toEqual([])
  })

  test('a full disk loses the sample whole and nothing else', () => {
    fill(100)
    const pages = store.database.use(({ db }) => db.query<{ page_count: number }, []>('PRAGMA page_count').get()?.page_count ?? 0)
    store.database.use(({ db }) => db.run(`PRAGMA max_page_count = ${pages + 1}`))
    expect(() => fill(5000, start + 100)).toThrow(/full/)
    const held = trafficAt(fineLevel, start, start + 10_000).length
    expect(held).toBe(instanceAt(fineLevel, start, start + 10_000).length)
    store.database.use(({ db }) => db.run('PRAGMA max_page_count = 1000000'))
    fill(10, start + 9000)
    expect(trafficAt(fineLevel, start, start + 10_000)).toHaveLength(held + 1)
  })

  test('a file of a newer version is left as it is', () => {
    store.database.use(({ db }) => db.run('PRAGMA user_version = 99'))
    store.database.close()
    expect(() => fill(10)).toThrow(/newer version/)
    expect(existsSync(`${store.path}.damaged`)).toBe(false)
  })
})
