/**
 * What metrics cost: sweeps of 100 real instances in their control groups, into a database that holds a year of 100 services; and how long
 * that database takes to answer. Beside it, what reading the same files without us takes.
 */
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { insertService } from '../../server/apps/services/insert.ts'
import { defaultSettings } from '../../server/apps/services/settings.ts'
import { createProcessEngine } from '../../server/engines/process/engine.ts'
import { answerHistory } from '../../server/insight/metrics/answer.ts'
import { migrateDatabase } from '../../server/platform/db/migrate.ts'
import { openDatabase } from '../../server/platform/db/open.ts'
import { type MetricsDatabase, openMetricsDatabase } from '../../server/telemetry/metrics/database.ts'
import { type Kind, trafficKind, usageKind } from '../../server/telemetry/metrics/kinds.ts'
import { fineLevel, levels } from '../../server/telemetry/metrics/levels.ts'
import { createMetrics } from '../../server/telemetry/metrics/metrics.ts'
import { rollUp } from '../../server/telemetry/metrics/roll-up.ts'
import { seriesIdOf } from '../../server/telemetry/metrics/series-ids.ts'
import { createSweeper } from '../../server/telemetry/metrics/sweep.ts'
import { createSampler } from '../../server/telemetry/traffic/sampler.ts'
import { metricNames } from '../../shared/metrics.ts'
import { defaultControls } from '../../shared/service-controls.ts'
import { defaultLabels } from '../../shared/service-labels.ts'
import { makeWorld } from '../engines/process/support/world.ts'
import { countsOf } from '../server/telemetry/metrics/counts.ts'
import { packed, trafficSample, usageSample } from '../server/telemetry/metrics/store.ts'

const SERVICES = 100
const SWEEPS = 120
const WARM_UP = 20
const REPEATS = 25
const HOUR = 3600
const DAY = 24 * HOUR
const log = { info() {}, error: (event: string, fields?: unknown) => console.log('metrics: error', event, fields) }

const serviceIds = Array.from({ length: SERVICES }, (_, index) => `srv-${String(index).padStart(20, '0')}`)
const instanceOf = (service: string): string => `${service}-00001`
const end = Math.floor(Date.now() / 10_000) * 10

export async function run(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-bench-metrics-'))
  const path = join(dir, 'metrics.db')
  const database = openMetricsDatabase(path, log)
  try {
    const rows = fillYear(database)
    database.use(({ db }) => db.run('PRAGMA wal_checkpoint(TRUNCATE)'))
    report(
      'size',
      `${mib(statSync(path).size)} for a year of ${SERVICES} services, ${Math.round(statSync(path).size / rows)} bytes a row of ${rows.toLocaleString('en')}`,
    )
    answers(database)
    await sweeps(database, dir)
  } finally {
    database.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Every level as full as retention lets it be. */
function fillYear(database: MetricsDatabase): number {
  let rows = 0
  const latency = packed({ 12: 3, 20: 40, 21: 80, 22: 51, 30: 9, 44: 2, 60: 1 })
  const insert = <S>(kind: Kind<S>, step: number, series: number, sample: S & { at: number }) => {
    const isFine = step === fineLevel.stepSeconds
    const marks = kind.columns.map(() => '?').join(', ')
    const key = isFine ? 'series, at' : 'step, series, at'
    const keys = isFine ? [series, sample.at] : [step, series, sample.at]
    rows++
    database.use(({ db }) =>
      db
        .query(
          `INSERT INTO ${kind.table}${isFine ? '_fine' : ''} (${key}, ${kind.columns.join(', ')}) VALUES (${keys.map(() => '?').join(', ')}, ${marks})`,
        )
        .run(...keys, ...kind.toValues(sample)),
    )
  }
  database.use((opened) => {
    opened.db.transaction(() => {
      for (const service of serviceIds) {
        const whole = seriesIdOf(opened, { service, instance: '' }, end - 395 * DAY)
        const instance = seriesIdOf(opened, { service, instance: instanceOf(service) }, end - 395 * DAY)
        for (const { stepSeconds, keptSeconds, isByServiceOnly } of levels) {
          for (let at = Math.floor((end - keptSeconds) / stepSeconds) * stepSeconds; at < end; at += stepSeconds) {
            const used = usageSample(at, {
              cpuUs: at % 9_000_000,
              cpuPeak: at % 900_000,
              memory: at % 300_000_000,
              memoryPeak: at % 400_000_000,
            })
            insert(usageKind, stepSeconds, whole, used)
            if (!isByServiceOnly) insert(usageKind, stepSeconds, instance, used)
            const requests = [0, 0, at % 90_000, at % 900, at % 90, at % 9]
            insert(
              trafficKind,
              stepSeconds,
              whole,
              trafficSample(at, { requests, bytesIn: at % 900_000, bytesOut: at % 90_000_000, latency }),
            )
          }
        }
      }
    })()
    for (const { stepSeconds, madeEverySeconds } of levels) {
      if (stepSeconds === fineLevel.stepSeconds) continue
      opened.db
        .query('INSERT INTO rolled (step, until) VALUES (?, ?)')
        .run(stepSeconds, Math.floor(end / madeEverySeconds) * madeEverySeconds)
    }
  })
  return rows
}

function answers(database: MetricsDatabase): void {
  const metrics = createMetrics(
    database,
    { latest: () => undefined, totals: () => new Map(), lagMs: () => 0 },
    new AbortController().signal,
  )
  for (const [name, seconds, resolutionSeconds] of [
    ['the last hour at 10 s', HOUR, 10],
    ['a day at 1 min', DAY, 60],
    ['48 hours at 10 min', 2 * DAY, 600],
    ['30 days at 1 h', 30 * DAY, HOUR],
    ['a year at 1 d', 365 * DAY, DAY],
  ] as const) {
    const startTime = String(end - seconds)
    const times = Array.from({ length: REPEATS }, (_, index) => {
      const services = [serviceIds[(index * 37) % SERVICES] ?? '']
      const startedAt = performance.now()
      const series = answerHistory(
        metrics,
        { services, startTime, endTime: String(end), resolutionSeconds, nowMs: end * 1000 },
        metricNames,
      )
      JSON.stringify(series)
      return performance.now() - startedAt
    }).toSorted((one, other) => one - other)
    report(
      `all ${metricNames.length} metrics of a service, ${name}`,
      `${ms(times[REPEATS >> 1])}, slowest ${ms(times.at(-1))} (goal 50 ms)`,
    )
  }
}

async function sweeps(database: MetricsDatabase, dir: string): Promise<void> {
  const world = makeWorld()
  const engine = await createProcessEngine({ stateDir: world.stateDir, label: `cpd-bench-${process.pid}` })
  const db = controlDatabase(join(dir, 'control.db'))
  try {
    for (const service of serviceIds) {
      await engine.start(world.instance('exec sleep 1000', { sandbox: world.service(service), instanceId: instanceOf(service), port: 0 }))
    }
    const sampler = createSampler()
    let clock = end * 1000
    const sweeper = createSweeper({ db, engine, sampler, database, now: () => clock })
    let usedMs = 0
    let longestMs = 0
    for (let sweep = 0; sweep < WARM_UP + SWEEPS; sweep++) {
      clock += 10_000
      sampler.take(countsOf('bench', Object.fromEntries(serviceIds.map((id) => [`${id}/${instanceOf(id)}`, sweep * 50]))), clock)
      const startedAt = performance.now()
      const cpu = process.cpuUsage()
      await sweeper.sweep(clock / 1000 - 10)
      const tookMs = performance.now() - startedAt
      if ((clock / 1000) % 600 === 0) await rollUp(database, clock / 1000, async () => {})
      const { user, system } = process.cpuUsage(cpu)
      if (sweep < WARM_UP) continue
      usedMs += (user + system) / 1000
      longestMs = Math.max(longestMs, tookMs)
    }
    const perSweepMs = usedMs / SWEEPS
    const bareMs = bareReading(serviceIds)
    report(
      `a sweep of ${SERVICES} instances with its share of the coarser windows`,
      `${ms(perSweepMs)} of processor time, ${(perSweepMs / 100).toFixed(3)} % of a core (goal 1 %); ${(perSweepMs / bareMs).toFixed(1)} × reading the kernel's files alone (${ms(bareMs)}); longest sweep ${ms(longestMs)}`,
    )
  } finally {
    await Promise.all(serviceIds.map((service) => engine.removeOwner(service)))
    await engine.close()
    db.close()
    world.dispose()
  }
}

function controlDatabase(path: string) {
  const db = openDatabase(path)
  migrateDatabase(db)
  db.run("INSERT INTO workspaces (id, name, email, created_at) VALUES ('tea-1', 'w', 'w@x', 0)")
  for (const id of serviceIds) {
    const service = { id, name: id, workspaceId: 'tea-1', type: 'web_service', numInstances: 1, createdAt: 0 } as const
    insertService(db, { ...service, settings: defaultSettings, controls: defaultControls, labels: defaultLabels }, () => false)
  }
  db.run("UPDATE services SET live_deploy_id = 'dep-1'")
  return db
}

/** The three files of version 1, or of version 2, of every instance: what cannot be saved. */
function bareReading(services: readonly string[]): number {
  const files = services.flatMap((service) => {
    const found = globSync(
      `/sys/fs/cgroup/{*,*/*}/${service}/${instanceOf(service)}/{cpuacct.usage,memory.usage_in_bytes,memory.stat,cpu.stat,memory.current}`,
    )
    return found.some((file) => file.endsWith('cpuacct.usage')) ? found.filter((file) => !file.endsWith('cpu.stat')) : found
  })
  const times = Array.from({ length: REPEATS }, () => {
    const startedAt = process.cpuUsage()
    for (const file of files) readFileSync(file, 'utf8')
    const { user, system } = process.cpuUsage(startedAt)
    return (user + system) / 1000
  })
  return times.toSorted((one, other) => one - other)[REPEATS >> 1] ?? Number.NaN
}

const ms = (value: number | undefined): string => `${(value ?? Number.NaN).toFixed(1)} ms`
const mib = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`
const report = (name: string, value: string): void => console.log(`metrics: ${name}: ${value}`)

if (import.meta.main) {
  await run()
  process.exit(0)
}
