import type { Database } from 'bun:sqlite'
import type { Engine } from '../../engines/port/port.ts'
import type { Paths } from '../../platform/paths.ts'
import { describeError, type ServerLog } from '../../platform/server-log.ts'
import type { Sampler } from '../traffic/sampler.ts'
import { openMetricsDatabase } from './database.ts'
import { fineLevel, floorTo } from './levels.ts'
import { createMaintenance } from './maintenance.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { createSweeper } from './sweep.ts'

export interface RunningMetrics {
  metrics: Metrics
  stop(): Promise<void>
}

export interface MetricsOptions {
  db: Database
  engine: Pick<Engine, 'list' | 'usage'>
  paths: Pick<Paths, 'metricsDb'>
  log: ServerLog
  now(): number
  isService(id: string): boolean
  sampler: Pick<Sampler, 'all' | 'sampledAt'>
}

const STEP_MS = fineLevel.stepSeconds * 1000
/** So long the first rollup waits for the ingress to report of the time in which nobody listened. */
const INGRESS_WAIT_MS = 60_000
const REPORT_EVERY_MS = 10 * 60_000

/** Samples every instance and service at every full ten seconds of the clock. What fails is logged and costs nothing but samples. */
export function startMetrics({ sampler, db, engine, log, now, paths, isService }: MetricsOptions): RunningMetrics {
  const database = openMetricsDatabase(paths.metricsDb, log)
  const sweeper = createSweeper({ db, engine, now, sampler, database })
  const stopper = new AbortController()
  const { signal } = stopper
  const maintenance = createMaintenance(database, isService, signal)
  const report = seldom(now, (error) => log.error('metrics lost', describeError(error)))
  const startedAtMs = now()
  let lagMs = 0
  let timer: Timer | undefined
  let sweeping = Promise.resolve()
  let maintaining = Promise.resolve()

  const orReport = (error: unknown) => {
    if (!signal.aborted) report(error)
  }
  const sample = async (until: number) => {
    await sweeper.sweep(until - fineLevel.stepSeconds).catch(orReport)
    if (signal.aborted) return
    if (sweeper.hasHeardIngress() || now() - startedAtMs > INGRESS_WAIT_MS) maintaining = maintenance.run(until).catch(orReport)
    schedule()
  }
  const schedule = () => {
    const nextMs = floorTo(now() / 1000, fineLevel.stepSeconds) * 1000 + STEP_MS
    timer = setTimeout(() => {
      lagMs = Math.max(0, now() - nextMs)
      // A timer may come a moment early: the window is that of the time it was meant for.
      sweeping = sample(nextMs / 1000)
    }, nextMs - now())
    timer.unref()
  }
  schedule()
  return {
    metrics: createMetrics(database, { ...sweeper, lagMs: () => lagMs }, signal),
    async stop() {
      stopper.abort()
      clearTimeout(timer)
      await Promise.all([sweeping, maintaining])
      database.close()
    },
  }
}

function seldom(now: () => number, report: (error: unknown) => void): (error: unknown) => void {
  let reportedAtMs = Number.NEGATIVE_INFINITY
  return (error) => {
    if (now() - reportedAtMs < REPORT_EVERY_MS) return
    reportedAtMs = now()
    report(error)
  }
}
