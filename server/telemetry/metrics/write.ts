import { tableOf } from '../../platform/db/table.ts'
import type { Opened } from './database.ts'
import type { DatastoreSample } from './datastore-samples.ts'
import { datastoreKind, type Kind, type SampleRow, trafficKind, usageKind } from './kinds.ts'
import type { TrafficSample, UsageSample } from './samples.ts'
import { seriesIdOf } from './series-ids.ts'

export interface Sampled<S> {
  service: string
  instance: string
  sample: S
}

export interface CpuReading {
  instance: string
  atMs: number
  cpuUs: number
}

export interface StoredTally {
  epoch: string
  entry: string
  beganAt: number
  counts: Uint8Array
}

const readings = tableOf<CpuReading>('readings', { instance: 'instance', atMs: 'at_ms', cpuUs: 'cpu_us' })
const tallies = tableOf<StoredTally>('tallies', { epoch: 'epoch', entry: 'entry', beganAt: 'began_at', counts: 'counts' })

export type TallyKey = Pick<StoredTally, 'epoch' | 'entry' | 'beganAt'>

export interface Sweep {
  usage: readonly Sampled<UsageSample>[]
  traffic: readonly Sampled<TrafficSample>[]
  readings: readonly CpuReading[]
  changedTallies: readonly StoredTally[]
  goneTallies: readonly TallyKey[]
  /** Up to when the ingress's counts are in the samples, in milliseconds since 1970; undefined before it was first heard. */
  trafficAtMs: number | undefined
}

/** Stores a sweep whole or, when this throws, not at all: neither a killed process nor a full disk counts anything twice. */
export function writeSweep(opened: Opened, sweep: Sweep): void {
  const { db, seriesIds } = opened
  try {
    db.transaction(() => {
      for (const sampled of sweep.usage) insertFine(opened, usageKind, sampled)
      for (const sampled of sweep.traffic) insertFine(opened, trafficKind, sampled)
      writeReadings(opened, sweep.readings)
      writeTallies(opened, sweep)
    }).immediate()
  } catch (error) {
    // Ids given in what was just undone are none.
    seriesIds.clear()
    throw error
  }
}

/** Stores what a server of a datastore told, in a window of its own time. */
export const writeDatastore = (opened: Opened, service: string, sample: DatastoreSample): void =>
  opened.db.transaction(() => insertFine(opened, datastoreKind, { service, instance: '', sample })).immediate()

/** Where something of the window is there already, as when the clock was set back, both are joined. */
function insertFine<S extends { at: number }>(opened: Opened, kind: Kind<S>, { service, instance, sample }: Sampled<S>): void {
  const { at } = sample
  const series = seriesIdOf(opened, { service, instance }, at)
  const { table, columns } = kind
  const marks = columns.map(() => '?').join(', ')
  const insert = opened.db.query(`INSERT OR IGNORE INTO ${table}_fine (at, series, ${columns.join(', ')}) VALUES (?, ?, ${marks})`)
  if (insert.run(at, series, ...kind.toValues(sample)).changes > 0) return
  const row = opened.db.query<SampleRow, [number, number]>(`SELECT * FROM ${table}_fine WHERE at = ? AND series = ?`).get(at, series)
  const joined = row === null ? sample : kind.join(at, [kind.fromRow(row), sample])
  const replace = opened.db.query(`INSERT OR REPLACE INTO ${table}_fine (at, series, ${columns.join(', ')}) VALUES (?, ?, ${marks})`)
  replace.run(at, series, ...kind.toValues(joined))
}

function writeReadings({ db }: Opened, read: readonly CpuReading[]): void {
  db.run('DELETE FROM readings')
  for (const { instance, atMs, cpuUs } of read) readings.put(db, { instance, atMs, cpuUs })
}

function writeTallies({ db }: Opened, { changedTallies, goneTallies, trafficAtMs }: Sweep): void {
  for (const { epoch, entry, beganAt, counts } of changedTallies) tallies.put(db, { epoch, entry, beganAt, counts })
  for (const { epoch, entry, beganAt } of goneTallies) tallies.remove(db, { epoch, entry, beganAt })
  if (trafficAtMs === undefined) return
  db.query("INSERT OR REPLACE INTO state (key, value) VALUES ('traffic_at_ms', ?)").run(trafficAtMs)
}

export interface Remembered {
  readings: CpuReading[]
  tallies: StoredTally[]
  trafficAtMs: number | undefined
}

export function readRemembered({ db }: Opened): Remembered {
  return {
    readings: readings.all(db, ''),
    tallies: tallies.all(db, ''),
    trafficAtMs: db.query<{ value: number }, []>("SELECT value FROM state WHERE key = 'traffic_at_ms'").get()?.value,
  }
}
