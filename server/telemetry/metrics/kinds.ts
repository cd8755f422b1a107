import { type DatastoreSample, joinDatastores } from './datastore-samples.ts'
import { joinTraffic, joinUsage, statusClasses, type TrafficSample, type UsageSample } from './samples.ts'

type Value = number | Uint8Array | null

export interface Kind<S> {
  /** The table of the coarser levels; that of the finest has `_fine` behind its name. */
  table: 'usage' | 'traffic' | 'datastores'
  columns: readonly string[]
  toValues(sample: S): Value[]
  fromRow(row: SampleRow): S
  join(at: number, parts: readonly S[]): S
}

export type SampleRow = Record<string, Value> & { series: number; at: number }

export const usageKind: Kind<UsageSample> = {
  table: 'usage',
  columns: ['samples', 'cpu_us', 'cpu_ms', 'cpu_peak', 'memory', 'memory_peak', 'disk', 'disk_size'],
  toValues: (sample) => [
    ...[sample.samples, sample.cpuUs, sample.cpuMs, sample.cpuPeak],
    ...[sample.memory, sample.memoryPeak, sample.disk, sample.diskSize],
  ],
  fromRow: (row) => ({
    at: row.at,
    samples: number(row.samples),
    cpuUs: number(row.cpu_us),
    cpuMs: number(row.cpu_ms),
    cpuPeak: number(row.cpu_peak),
    memory: number(row.memory),
    memoryPeak: number(row.memory_peak),
    disk: number(row.disk),
    diskSize: number(row.disk_size),
  }),
  join: joinUsage,
}

const statusColumns = statusClasses.map((name) => `status_${name}`)

export const trafficKind: Kind<TrafficSample> = {
  table: 'traffic',
  columns: [
    ...['samples', 'instances', 'instances_peak', 'cpu_limit', 'memory_limit'],
    ...statusColumns,
    ...['bytes_in', 'bytes_out', 'latency'],
  ],
  toValues: (sample) => [
    ...[sample.samples, sample.instances, sample.instancesPeak, sample.cpuLimit, sample.memoryLimit],
    ...sample.requests,
    ...[sample.bytesIn, sample.bytesOut, sample.latency],
  ],
  fromRow: (row) => ({
    at: row.at,
    samples: number(row.samples),
    instances: number(row.instances),
    instancesPeak: number(row.instances_peak),
    cpuLimit: number(row.cpu_limit),
    memoryLimit: number(row.memory_limit),
    requests: statusColumns.map((column) => number(row[column])),
    bytesIn: number(row.bytes_in),
    bytesOut: number(row.bytes_out),
    latency: row.latency instanceof Uint8Array ? row.latency : null,
  }),
  join: joinTraffic,
}

export const datastoreKind: Kind<DatastoreSample> = {
  table: 'datastores',
  columns: ['samples', 'connections', 'memory', 'keys', 'span_ms', 'hits', 'misses', 'evictions', 'operations'],
  toValues: (sample) => [
    ...[sample.samples, sample.connections, sample.memory, sample.keys, sample.spanMs],
    ...[sample.hits, sample.misses, sample.evictions, sample.operations],
  ],
  fromRow: (row) => ({
    at: row.at,
    samples: number(row.samples),
    connections: number(row.connections),
    memory: number(row.memory),
    keys: number(row.keys),
    spanMs: number(row.span_ms),
    hits: number(row.hits),
    misses: number(row.misses),
    evictions: number(row.evictions),
    operations: number(row.operations),
  }),
  join: joinDatastores,
}

const number = (value: Value | undefined): number => (typeof value === 'number' ? value : 0)
