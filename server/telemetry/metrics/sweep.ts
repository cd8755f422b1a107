import type { Database } from 'bun:sqlite'
import type { Engine } from '../../engines/port/port.ts'
import type { Sampler } from '../traffic/sampler.ts'
import { addDifference, emptyTally, type Tally } from '../traffic/tally.ts'
import type { MetricsDatabase } from './database.ts'
import { createKnownTraffic, type KnownTraffic } from './known-traffic.ts'
import { levels } from './levels.ts'
import { rolledUntil } from './read.ts'
import { type Reading, readInstances, readServices, type ServiceFacts } from './readings.ts'
import type { TrafficSample } from './samples.ts'
import { instancesIn, type ServiceSnapshot, type Snapshot, type Totals } from './snapshot.ts'
import { askedIn, type EntryTally, entryTallies, isEmpty, NO_SERVICE, nothingAsked, shareOf, windowsBetween } from './traffic-of.ts'
import { type Before, idleUsage, type ServiceUsage, usageOf } from './usage-of.ts'
import { type CpuReading, readRemembered, type Sampled, type Sweep, writeSweep } from './write.ts'

export interface SweeperOptions {
  db: Database
  engine: Pick<Engine, 'list' | 'usage'>
  now(): number
  sampler: Pick<Sampler, 'all' | 'sampledAt'>
  database: MetricsDatabase
}

export interface Sweeper {
  /** Stores the window that begins at `at` (s since 1970). @throws whatever keeps it from being stored; the next sweep then counts what this one did not, and nothing twice. */
  sweep(at: number): Promise<void>
  latest(): Snapshot | undefined
  totals(): Totals
  hasHeardIngress(): boolean
}

interface Memory {
  usage: Before
  traffic: KnownTraffic
  trafficAtMs: number | undefined
}

interface Heard {
  entries: EntryTally[]
  atMs: number
  increments: ReadonlyMap<string, Tally>
  windows: number[]
}

export function createSweeper({ db, engine, now, sampler, database }: SweeperOptions): Sweeper {
  let memory: Memory | undefined
  let latest: Snapshot | undefined
  let hasHeard = false
  const totals = new Map<string, Tally>()

  return {
    async sweep(at) {
      const readings = await readInstances({ db, engine, now })
      memory ??= recall(database, now())
      const heard = listen({ sampler, database, memory, at })
      const atMs = now()
      const spanMs = atMs - memory.usage.atMs
      const facts = readServices(db)
      const services = servicesOf({ facts, usage: usageOf(at, readings, memory.usage), heard, at, spanMs, readings })
      const traffic = heard === undefined ? [] : trafficSamples(services, heard, at)
      memory.usage = beforeOf(atMs, readings)
      latest = { atMs, services }
      store(database, memory, { usage: usageSamples(services), traffic, readings, heard, facts, atMs })
      if (heard === undefined) return
      memory.traffic.accept(heard.entries, atMs)
      memory.trafficAtMs = heard.atMs
      hasHeard = true
      addTo(totals, heard.increments)
    },
    latest: () => latest,
    totals: () => totals,
    hasHeardIngress: () => hasHeard,
  }
}

function recall(database: MetricsDatabase, nowMs: number): Memory {
  const { readings, tallies, trafficAtMs } = database.use(readRemembered)
  const atMs = Math.max(0, ...readings.map((reading) => reading.atMs))
  return { usage: beforeOf(atMs, readings), traffic: createKnownTraffic(tallies, nowMs), trafficAtMs }
}

const beforeOf = (atMs: number, readings: readonly CpuReading[]): Before => ({
  atMs,
  readings: new Map(readings.map((reading) => [reading.instance, reading])),
})

interface Listening extends Pick<SweeperOptions, 'sampler' | 'database'> {
  memory: Memory
  at: number
}

function listen({ sampler, database, memory, at }: Listening): Heard | undefined {
  const { traffic, trafficAtMs } = memory
  const atMs = sampler.sampledAt()
  if (atMs <= (trafficAtMs ?? 0)) return undefined
  const entries = entryTallies(sampler.all())
  // The very first look has nothing to compare with: what was counted before it belongs to nobody knows when.
  if (trafficAtMs === undefined) return { entries, atMs, increments: new Map(), windows: [at] }
  return { entries, atMs, increments: traffic.increments(entries), windows: openWindows(database, windowsBetween(trafficAtMs, atMs, at)) }
}

function openWindows(database: MetricsDatabase, windows: readonly number[]): number[] {
  const [, next] = levels
  if (windows.length === 1 || next === undefined) return [...windows]
  const madeUntil = database.use((opened) => rolledUntil(opened, next)) ?? 0
  return windows.filter((window, index) => window >= madeUntil || index === windows.length - 1)
}

interface SweptParts {
  facts: readonly ServiceFacts[]
  usage: ReadonlyMap<string, ServiceUsage>
  heard: Heard | undefined
  at: number
  spanMs: number
  readings: readonly Reading[]
}

function servicesOf({ facts, usage, heard, at, spanMs, readings }: SweptParts): Map<string, ServiceSnapshot> {
  const cpuTotals = new Map(readings.map(({ instance, cpuUs }) => [instance, cpuUs]))
  const services = new Map<string, ServiceSnapshot>()
  for (const one of facts) {
    if (!one.hasLiveRelease && !usage.has(one.id) && heard?.increments.has(one.id) !== true) continue
    const { total, instances } = usage.get(one.id) ?? { total: idleUsage(at, spanMs), instances: [] }
    const withTotals = instances.map((part) => ({ ...part, cpuTotalUs: cpuTotals.get(part.instance) ?? 0 }))
    services.set(one.id, { facts: one, total, instances: withTotals, traffic: undefined })
  }
  return services
}

interface Stored extends Pick<Sweep, 'usage' | 'traffic' | 'readings'> {
  heard: Heard | undefined
  facts: readonly ServiceFacts[]
  atMs: number
}

function store(database: MetricsDatabase, memory: Memory, { heard, facts, atMs, ...samples }: Stored): void {
  try {
    const { changed, gone } =
      heard === undefined ? { changed: [], gone: [] } : memory.traffic.changes(ofServices(heard.entries, facts), atMs)
    const sweep = { ...samples, changedTallies: changed, goneTallies: gone, trafficAtMs: heard?.atMs ?? memory.trafficAtMs }
    database.use((opened) => writeSweep(opened, sweep))
  } catch (error) {
    memory.traffic.doubt()
    throw error
  }
}

/** Without what the ingress still counts of a service that was deleted: its samples are removed once, and nothing of it is to come after. */
function ofServices(entries: readonly EntryTally[], facts: readonly ServiceFacts[]): EntryTally[] {
  const there = new Set([NO_SERVICE, ...facts.map(({ id }) => id)])
  return entries.filter(({ service }) => there.has(service))
}

function addTo(totals: Map<string, Tally>, increments: ReadonlyMap<string, Tally>): void {
  for (const [service, tally] of increments) {
    const total = totals.get(service) ?? emptyTally()
    addDifference(total, undefined, tally)
    totals.set(service, total)
  }
}

function usageSamples(services: ReadonlyMap<string, ServiceSnapshot>): Sweep['usage'] {
  return [...services].flatMap(([service, { total, instances }]) => [
    { service, instance: '', sample: total },
    ...instances.map(({ instance, sample }) => ({ service, instance, sample })),
  ])
}

function trafficSamples(
  services: ReadonlyMap<string, ServiceSnapshot>,
  { increments, windows }: Heard,
  at: number,
): Sampled<TrafficSample>[] {
  return [...services].flatMap(([service, snapshot]) => {
    const tally = increments.get(service)
    const newest = newestTraffic(snapshot, tally && lastShare(tally, windows.length), at)
    snapshot.traffic = newest
    const earlier = tally === undefined ? [] : earlierTraffic(tally, windows)
    return [...earlier, newest].map((sample) => ({ service, instance: '', sample }))
  })
}

const lastShare = (tally: Tally, count: number): Tally => (count === 1 ? tally : shareOf(tally, count - 1, count))

function newestTraffic(snapshot: ServiceSnapshot, asked: Tally | undefined, at: number): TrafficSample {
  const count = instancesIn(snapshot)
  const { cpuLimit, memoryLimit } = snapshot.facts
  const counts = asked === undefined ? nothingAsked : askedIn(asked)
  return { at, samples: 1, instances: count, instancesPeak: count, cpuLimit, memoryLimit, ...counts }
}

function earlierTraffic(tally: Tally, windows: readonly number[]): TrafficSample[] {
  return windows.slice(0, -1).flatMap((at, index) => {
    const share = shareOf(tally, index, windows.length)
    return isEmpty(share) ? [] : [{ at, ...notSampled, ...askedIn(share) }]
  })
}

const notSampled = { samples: 0, instances: 0, instancesPeak: 0, cpuLimit: 0, memoryLimit: 0 }
