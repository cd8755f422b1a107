import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { insertService } from '../../../../server/apps/services/insert.ts'
import { defaultSettings } from '../../../../server/apps/services/settings.ts'
import { markDeleted } from '../../../../server/apps/services/store.ts'
import type { Engine } from '../../../../server/engines/port/port.ts'
import { migrateDatabase } from '../../../../server/platform/db/migrate.ts'
import { openDatabase } from '../../../../server/platform/db/open.ts'
import { insertWorkload } from '../../../../server/runtime/workloads/store.ts'
import { fineLevel, type Level, levels } from '../../../../server/telemetry/metrics/levels.ts'
import { createMaintenance } from '../../../../server/telemetry/metrics/maintenance.ts'
import { requestsOf, type TrafficSample } from '../../../../server/telemetry/metrics/samples.ts'
import { createSweeper, type Sweeper } from '../../../../server/telemetry/metrics/sweep.ts'
import { NO_SERVICE } from '../../../../server/telemetry/metrics/traffic-of.ts'
import { createSampler, type Sampler } from '../../../../server/telemetry/traffic/sampler.ts'
import { defaultControls } from '../../../../shared/service-controls.ts'
import { defaultLabels } from '../../../../shared/service-labels.ts'
import { idleEngine } from '../../../support/idle-parts.ts'
import { countsOf, requestsOfTally } from './counts.ts'
import { openTestStore, type TestStore } from './store.ts'

const [, minutes] = levels as [Level, Level]
const start = 1_800_000_000
const a = 'srv-0000000000000000000a'
const b = 'srv-0000000000000000000b'

interface Box {
  service: string
  cpuSeconds: number
  memoryBytes: number
}

let db: Database
let store: TestStore
let clock: number
let boxes: Record<string, Box>
let sampler: Sampler
let sweeper: Sweeper

const engine: Engine = {
  ...idleEngine,
  list: async () => [
    ...Object.entries(boxes).map(([instanceId, { service }]) => ({ instanceId, ownerId: service })),
    { instanceId: 'dep-1-build', ownerId: a },
  ],
  usage: async (id) => boxes[id],
}

/** A control plane as it is after a start: it knows what is in the database and nothing else. */
function restart(): void {
  sampler = createSampler()
  sweeper = createSweeper({ db, engine, now: () => clock, sampler, database: store.database })
}

beforeEach(() => {
  store = openTestStore()
  db = openDatabase(`${store.path}.control`)
  migrateDatabase(db)
  db.run("INSERT INTO workspaces (id, name, email, created_at) VALUES ('tea-1', 'w', 'w@x', 0)")
  for (const [id, name] of [
    [a, 'a'],
    [b, 'b'],
  ] as const) {
    const service = { id, name, workspaceId: 'tea-1', type: 'web_service', numInstances: 1, createdAt: 0 } as const
    insertService(db, { ...service, settings: defaultSettings, controls: defaultControls, labels: defaultLabels }, () => false)
  }
  insertWorkload(db, { id: 'dep-1-build', ownerKind: 'service', ownerId: a, purpose: 'build_step', createdAt: 0 })
  clock = start * 1000
  boxes = {}
  restart()
})
afterEach(() => {
  store.close()
  db.close()
})

/** An instance that has used so much. */
function runA(cpuSeconds: number): void {
  boxes[`${a}-1`] = { service: a, cpuSeconds, memoryBytes: 7 }
}

/** Ten seconds later everybody looks. */
async function sweepAfter(counts: Record<string, number> = {}, { seconds = 10, epoch = 'e' } = {}): Promise<void> {
  clock += seconds * 1000
  sampler.take(countsOf(epoch, counts), clock)
  await sweeper.sweep(Math.floor(clock / 10_000) * 10 - 10)
}

const trafficOf = (service: string, level = fineLevel): TrafficSample[] =>
  store.metrics.trafficOf({ services: [service], level, start: 0, end: start + 1_000_000 })[0]?.samples ?? []
const requestsIn = (service: string): number => trafficOf(service).reduce((sum, sample) => sum + requestsOf(sample), 0)
const usageOf = (service: string) =>
  store.metrics.usageOfInstances({ services: [service], level: fineLevel, start: 0, end: start + 1_000_000 })

describe('requests', () => {
  test('counted before the very first look are of no window; those after it are', async () => {
    await sweepAfter({ [`${a}/${a}-1`]: 1000 })
    expect(requestsIn(a)).toBe(0)
    await sweepAfter({ [`${a}/${a}-1`]: 1007 })
    expect(requestsIn(a)).toBe(7)
    expect(sweeper.latest()?.services.get(a)?.traffic?.requests[2]).toBe(7)
  })

  test('are neither lost nor counted twice when the control plane is restarted, or killed before it stored them', async () => {
    await sweepAfter()
    await sweepAfter({ [`${a}/${a}-1`]: 5 })
    restart()
    await sweepAfter({ [`${a}/${a}-1`]: 9, [`${a}/${a}-2`]: 1 })
    store.database.use((opened) => opened.db.run('PRAGMA query_only = ON'))
    await expect(sweepAfter({ [`${a}/${a}-1`]: 20, [`${a}/${a}-2`]: 2 })).rejects.toThrow()
    store.database.use((opened) => opened.db.run('PRAGMA query_only = OFF'))
    restart()
    await sweepAfter({ [`${a}/${a}-1`]: 30, [`${a}/${a}-2`]: 3 })
    expect(requestsIn(a)).toBe(33)
  })

  test('go on from where they were when the ingress is another, or both count', async () => {
    await sweepAfter()
    await sweepAfter({ [`${a}/${a}-1`]: 5 })
    sampler.take(countsOf('f', { [`${a}/${a}-1`]: 3 }), clock)
    await sweepAfter({ [`${a}/${a}-1`]: 6 })
    await sweepAfter({ [`${a}/${a}-1`]: 10 }, { epoch: 'f' })
    expect(requestsIn(a)).toBe(6 + 10)
  })

  test('of a time in which nobody looked are spread over it, all of them and without a spike', async () => {
    await sweepAfter()
    restart()
    await sweepAfter({ [`${a}/${a}-1`]: 1000 }, { seconds: 600 })
    const windows = trafficOf(a)
    expect(requestsIn(a)).toBe(1000)
    expect(Math.max(...windows.map(requestsOf))).toBeLessThanOrEqual(1000 / 60 + 1)
    expect(windows.filter(({ samples }) => samples > 0)).toHaveLength(1)
  })

  test('that come late do not change minutes that are made already', async () => {
    boxes[`${a}-1`] = { service: a, cpuSeconds: 1, memoryBytes: 1 }
    await sweepAfter()
    for (let step = 0; step < 66; step++) {
      clock += 10_000
      await sweeper.sweep(Math.floor(clock / 10_000) * 10 - 10)
    }
    await store.rollUp(clock / 1000)
    const made = store.database.use(({ db: samples }) => samples.query('SELECT * FROM traffic').all())
    await sweepAfter({ [`${a}/${a}-1`]: 500 })
    await store.rollUp(clock / 1000)
    expect(store.database.use(({ db: samples }) => samples.query('SELECT * FROM traffic').all())).toEqual(made)
    expect(trafficOf(a, minutes).reduce((sum, sample) => sum + requestsOf(sample), 0)).toBe(500)
  })

  test('of nobody and of services that are being deleted are of no service', async () => {
    await sweepAfter()
    markDeleted(db, b, clock)
    await sweepAfter({ [`${a}/${a}-1`]: 1, [`${b}/${b}-1`]: 4, '/': 8 })
    expect([requestsIn(a), requestsIn(b)]).toEqual([1, 0])
    expect(requestsOfTally(sweeper.totals().get(NO_SERVICE))).toBe(8)
    expect(sweeper.latest()?.services.has(b)).toBe(false)
    // Nor is anything remembered of these, which nobody would remove again.
    const entries = store.database.use(({ db: samples }) => samples.query<{ entry: string }, []>('SELECT entry FROM tallies').all())
    expect(entries.map(({ entry }) => entry).sort()).toEqual(['', `${a}-1`])
  })

  test('are not known, and not zero, while the ingress does not answer', async () => {
    await sweepAfter()
    await sweepAfter({ [`${a}/${a}-1`]: 5 })
    clock += 10_000
    boxes[`${a}-1`] = { service: a, cpuSeconds: 1, memoryBytes: 1 }
    await sweeper.sweep(Math.floor(clock / 10_000) * 10 - 10)
    expect(sweeper.latest()?.services.get(a)?.traffic).toBeUndefined()
    expect(trafficOf(a)).toHaveLength(1)
    expect(usageOf(a)).toHaveLength(1)
  })
})

describe('usage', () => {
  const cpus = (instance: string) =>
    usageOf(a)
      .find((one) => one.instance === instance)
      ?.samples.map(({ cpuUs, cpuMs }) => [cpuUs, cpuMs])

  test('is a rate from the second look on, also over a restart of the control plane', async () => {
    runA(100)
    await sweepAfter()
    runA(102)
    await sweepAfter()
    restart()
    runA(106)
    await sweepAfter({}, { seconds: 20 })
    expect(cpus(`${a}-1`)).toEqual([
      [0, 0],
      [2_000_000, 10_000],
      [4_000_000, 20_000],
    ])
  })

  test('has no rate after a gap', async () => {
    runA(100)
    await sweepAfter()
    runA(1000)
    await sweepAfter({}, { seconds: 300 })
    expect(cpus(`${a}-1`)).toEqual([
      [0, 0],
      [0, 0],
    ])
    const times = usageOf(a)[0]?.samples.map(({ at }) => at) ?? []
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBe(300)
  })

  test('of a job is that of its service, which has no more instances by it', async () => {
    boxes = { [`${a}-1`]: { service: a, cpuSeconds: 1, memoryBytes: 10 }, 'job-1': { service: a, cpuSeconds: 1, memoryBytes: 30 } }
    await sweepAfter()
    expect(usageOf(a).map(({ instance }) => instance)).toEqual([`${a}-1`, 'job-1'])
    expect(trafficOf(a)[0]).toMatchObject({ instances: 1, cpuLimit: 500, memoryLimit: 512 })
    expect(sweeper.latest()?.services.get(a)?.total.memory).toBe(40)
  })

  test('of a service of which nothing runs any more is nothing', async () => {
    db.query('UPDATE services SET live_deploy_id = ? WHERE id = ?').run('dep-x', a)
    boxes[`${a}-1`] = { service: a, cpuSeconds: 1, memoryBytes: 10 }
    await sweepAfter()
    boxes = {}
    await sweepAfter()
    expect(sweeper.latest()?.services.get(a)).toMatchObject({ instances: [], total: { cpuUs: 0, cpuMs: 10_000, memory: 0 } })
    expect(usageOf(b)).toEqual([])
  })
})

test('a clock that is set back adds to what is there', async () => {
  await sweepAfter()
  await sweepAfter({ [`${a}/${a}-1`]: 5 })
  await sweepAfter({ [`${a}/${a}-1`]: 8 })
  clock -= 10_001
  sampler.take(countsOf('e', { [`${a}/${a}-1`]: 9 }), clock + 10_002)
  await sweeper.sweep(Math.floor(clock / 10_000) * 10 - 10)
  expect(requestsIn(a)).toBe(9)
})

describe('datastores', () => {
  const id = 'dpg-0000000000000000000a-a'

  beforeEach(() => {
    db.run(
      `INSERT INTO datastores (id, kind, workspace_id, name, number, plan, version, volume_id, volume_kind, size_gb, ip_allow_list, phase, created_at, updated_at)
       VALUES (?, 'postgres', 'tea-1', 'db', 40000, 'basic_1gb', '18', 'dsk-0000000000000000000a', 'folder', 1, '[]', 'ready', 0, 0)`,
      [id],
    )
  })

  test('are measured like services, with the limits of their own plans', async () => {
    boxes[`${id}-00001`] = { service: id, cpuSeconds: 1, memoryBytes: 99 }
    await sweepAfter()
    boxes[`${id}-00001`] = { service: id, cpuSeconds: 6, memoryBytes: 100 }
    await sweepAfter()
    const [series] = usageOf(id)
    expect(series).toMatchObject({ instance: `${id}-00001` })
    expect(series?.samples.at(-1)).toMatchObject({ cpuUs: 5_000_000, memory: 100 })
    expect(trafficOf(id).at(-1)).toMatchObject({ instances: 1, cpuLimit: 500, memoryLimit: 1024 })
  })

  test('keep their samples while there are any of them, and lose them with the last', async () => {
    boxes[`${id}-00001`] = { service: id, cpuSeconds: 1, memoryBytes: 99 }
    await sweepAfter()
    await sweepAfter()
    const isThere = (one: string) => one === a || db.query('SELECT 1 FROM datastores WHERE id = ?').get(one) !== null
    const tend = (until: number) => createMaintenance(store.database, isThere, new AbortController().signal).run(until)
    await tend(start + 3600)
    expect(usageOf(id)).toHaveLength(1)
    db.run("UPDATE datastores SET phase = 'deleting' WHERE id = ?", [id])
    await sweepAfter()
    expect(sweeper.latest()?.services.has(id)).toBe(false)
    db.run('DELETE FROM datastores WHERE id = ?', [id])
    await tend(start + 7200)
    expect(usageOf(id)).toEqual([])
  })
})
