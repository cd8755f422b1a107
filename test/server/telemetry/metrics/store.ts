import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServerLog } from '../../../../server/platform/server-log.ts'
import { encodeCounts } from '../../../../server/telemetry/metrics/counts-codec.ts'
import { type MetricsDatabase, openMetricsDatabase } from '../../../../server/telemetry/metrics/database.ts'
import { createMetrics, type Metrics } from '../../../../server/telemetry/metrics/metrics.ts'
import { rollUp } from '../../../../server/telemetry/metrics/roll-up.ts'
import type { TrafficSample, UsageSample } from '../../../../server/telemetry/metrics/samples.ts'
import { type Sweep, writeSweep } from '../../../../server/telemetry/metrics/write.ts'

/** A database of samples in a folder of its own. */
export interface TestStore {
  path: string
  database: MetricsDatabase
  metrics: Metrics
  logged: string[]
  write(sweep: Partial<Sweep>): void
  rollUp(until: number): Promise<void>
  close(): void
}

export function openTestStore(): TestStore {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-metrics-'))
  const path = join(dir, 'metrics.db')
  const logged: string[] = []
  const database = openMetricsDatabase(
    path,
    createServerLog((line) => logged.push(line)),
  )
  const idle = { latest: () => undefined, totals: () => new Map(), lagMs: () => 0 }
  return {
    path,
    database,
    metrics: createMetrics(database, idle, new AbortController().signal),
    logged,
    write: (sweep) => database.use((opened) => writeSweep(opened, { ...emptySweep, ...sweep })),
    rollUp: (until) => rollUp(database, until, async () => {}),
    close() {
      database.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

const emptySweep: Sweep = { usage: [], traffic: [], readings: [], changedTallies: [], goneTallies: [], trafficAtMs: undefined }

export const usageSample = (at: number, fields: Partial<UsageSample> = {}): UsageSample => ({
  ...{ at, samples: 1, cpuUs: 5_000_000, cpuMs: 10_000, cpuPeak: 500_000, memory: 1000, memoryPeak: 1000, disk: 0, diskSize: 0 },
  ...fields,
})

export const trafficSample = (at: number, fields: Partial<TrafficSample> = {}): TrafficSample => ({
  ...{ at, samples: 1, instances: 2, instancesPeak: 2, cpuLimit: 500, memoryLimit: 512 },
  ...{ requests: [0, 0, 0, 0, 0, 0], bytesIn: 0, bytesOut: 0, latency: null },
  ...fields,
})

export function packed(buckets: Record<number, number>): Uint8Array {
  const counts = new Float64Array(82)
  for (const [bucket, count] of Object.entries(buckets)) counts[Number(bucket)] = count
  return encodeCounts(counts)
}
