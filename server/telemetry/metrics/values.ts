import type { AggregationMethod, MetricName, MetricUnit, TimeSeries } from '../../../shared/metrics.ts'
import { latencyAt } from '../../ingress/traffic/latency.ts'
import type { DatastoreSample } from './datastore-samples.ts'
import { latencyCounts, requestsOf, statusClasses, type TrafficSample, type UsageSample } from './samples.ts'

type Labels = Record<string, string>

type ValueOf<S> = (sample: S) => number | undefined

export function seriesOf<S extends { at: number }>(
  labels: Labels,
  unit: MetricUnit,
  samples: readonly S[],
  read: ValueOf<S>,
): TimeSeries[] {
  const values = samples.flatMap((sample) => {
    const value = read(sample)
    return value === undefined ? [] : [{ timestamp: isoOf(sample.at), value }]
  })
  return values.length === 0 ? [] : [{ labels: Object.entries(labels).map(([field, value]) => ({ field, value })), values, unit }]
}

const isoOf = (seconds: number): string => new Date(seconds * 1000).toISOString()

const MICROS = 1e6
const MIB = 1024 * 1024

export const nothing = (): TimeSeries[] => []

/** Cores. */
export const cpuOf: ValueOf<UsageSample> = ({ cpuUs, cpuMs }) => (cpuMs === 0 ? undefined : Math.round((cpuUs / cpuMs) * 1000) / MICROS)
export const memoryOf: ValueOf<UsageSample> = ({ samples, memory }) => (samples === 0 ? undefined : memory)

interface UsageValues {
  unit: MetricUnit
  valueOf: ValueOf<UsageSample>
  peakOf: ValueOf<UsageSample>
  /** Whether all instances have it together. */
  isShared?: true
}

const ofDisk = (read: ValueOf<UsageSample>): UsageValues => ({ unit: 'bytes', valueOf: read, peakOf: read, isShared: true })

export const usageValues: Partial<Record<MetricName, UsageValues>> = {
  cpu: { unit: 'cpu', valueOf: cpuOf, peakOf: ({ cpuMs, cpuPeak }) => (cpuMs === 0 ? undefined : cpuPeak / MICROS) },
  memory: { unit: 'bytes', valueOf: memoryOf, peakOf: ({ samples, memoryPeak }) => (samples === 0 ? undefined : memoryPeak) },
  'disk-usage': ofDisk(({ disk, diskSize }) => (diskSize === 0 ? undefined : disk)),
  'disk-capacity': ofDisk(({ diskSize }) => (diskSize === 0 ? undefined : diskSize)),
}

export const trafficSeries: Partial<Record<MetricName, (labels: Labels, samples: readonly TrafficSample[]) => TimeSeries[]>> = {
  'http-requests': (labels, samples) => seriesOf(labels, 'requests', samples, requestsOf),
  'http-latency': (labels, samples) => [0.5, 0.95, 0.99].flatMap((quantile) => latencySeries(labels, samples, quantile)),
  bandwidth: (labels, samples) => [
    ...seriesOf({ ...labels, direction: 'in' }, 'bytes', samples, ({ bytesIn }) => bytesIn),
    ...seriesOf({ ...labels, direction: 'out' }, 'bytes', samples, ({ bytesOut }) => bytesOut),
  ],
  'instance-count': (labels, samples) =>
    seriesOf(labels, 'instances', samples, (one) =>
      one.samples === 0 ? undefined : Math.round((one.instances / one.samples) * 100) / 100,
    ),
  'cpu-limit': (labels, samples) => seriesOf(labels, 'cpu', samples, ({ cpuLimit }) => (cpuLimit === 0 ? undefined : cpuLimit / 1000)),
  'memory-limit': (labels, samples) =>
    seriesOf(labels, 'bytes', samples, ({ memoryLimit }) => (memoryLimit === 0 ? undefined : memoryLimit * MIB)),
}

const ofDatastores =
  (unit: MetricUnit, read: ValueOf<DatastoreSample>) =>
  (labels: Labels, samples: readonly DatastoreSample[]): TimeSeries[] =>
    seriesOf(labels, unit, samples, read)

const counted =
  (read: (sample: DatastoreSample) => number): ValueOf<DatastoreSample> =>
  (sample) =>
    sample.spanMs === 0 ? undefined : read(sample)

const rounded = (value: number): number => Math.round(value * 100) / 100

/** Databases count pages found in memory as hits and transactions as operations; they have no keys. */
export const datastoreSeries: Partial<Record<MetricName, (labels: Labels, samples: readonly DatastoreSample[]) => TimeSeries[]>> = {
  'active-connections': ofDatastores('connections', ({ connections }) => rounded(connections)),
  'used-memory': ofDatastores('bytes', ({ memory }) => (memory === 0 ? undefined : Math.round(memory))),
  keys: ofDatastores('keys', ({ keys, memory }) => (memory === 0 ? undefined : rounded(keys))),
  'cache-hits': (labels, samples) => [
    ...seriesOf(
      { ...labels, result: 'hit' },
      'lookups',
      samples,
      counted(({ hits }) => hits),
    ),
    ...seriesOf(
      { ...labels, result: 'miss' },
      'lookups',
      samples,
      counted(({ misses }) => misses),
    ),
  ],
  evictions: ofDatastores('keys', ({ memory, spanMs, evictions }) => (memory === 0 || spanMs === 0 ? undefined : evictions)),
  operations: ofDatastores(
    'per_second',
    counted(({ operations, spanMs }) => rounded((operations * 1000) / spanMs)),
  ),
}

export const latencySeries = (labels: Labels, samples: readonly TrafficSample[], quantile: number): TimeSeries[] =>
  seriesOf({ ...labels, quantile: String(quantile) }, 'ms', samples, (sample) => latencyOf(sample, quantile))

export function requestsByClass(labels: Labels, samples: readonly TrafficSample[]): TimeSeries[] {
  return statusClasses.flatMap((name, index) => {
    const countOf = ({ requests }: TrafficSample) => requests[index] ?? 0
    return samples.some((sample) => countOf(sample) > 0) ? seriesOf({ ...labels, statusCode: name }, 'requests', samples, countOf) : []
  })
}

/** Milliseconds; undefined where nothing was answered. */
export function latencyOf({ latency }: Pick<TrafficSample, 'latency'>, quantile: number): number | undefined {
  if (latency === null) return undefined
  const counts = latencyCounts([{ latency }])
  return Math.round(latencyAt(quantile, (bucket) => counts[bucket] ?? 0) * 1000) / 1000
}

const reducers: Record<AggregationMethod, (values: number[]) => number> = {
  AVG: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
  MAX: (values) => Math.max(...values),
  MIN: (values) => Math.min(...values),
}

export function aggregate(series: readonly TimeSeries[], labels: Labels, method: AggregationMethod): TimeSeries[] {
  const byTime = new Map<string, number[]>()
  for (const { timestamp, value } of series.flatMap(({ values }) => values)) {
    const known = byTime.get(timestamp)
    if (known === undefined) byTime.set(timestamp, [value])
    else known.push(value)
  }
  const [first] = series
  if (first === undefined) return []
  const values = [...byTime]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([timestamp, parts]) => ({ timestamp, value: reducers[method](parts) }))
  return [{ labels: Object.entries(labels).map(([field, value]) => ({ field, value })), values, unit: first.unit }]
}
