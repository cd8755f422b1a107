import type { RequestNote } from '../exchange/request-note.ts'
import type { Route } from '../tables/route-table.ts'
import type { KnownCounts, TrafficCounts, TrafficEntry } from './counts.ts'
import { LATENCY_BUCKETS, latencyBucket } from './latency.ts'

const TUNNEL_CLASS = 1
const BAD_GATEWAY = 502
/** Entries of what has gone that are kept for a reader that stays away; beyond these, the oldest are added to their service's own. */
const MAX_GONE = 4096

interface Entry {
  readonly serviceId: string
  readonly instanceId: string
  readonly beganAt: number
  readonly byClass: number[]
  readonly failures: number[]
  cutOff: number
  brokenOff: number
  receivedBytes: number
  sentBytes: number
  readonly latency: number[]
  inFlight: number
  tunnels: number
  isGone: boolean
  revision: number
}

type Routes = ReadonlyMap<string, Route>

interface InFlight {
  inFlight: number
  tunnels: number
}

export interface Served {
  routes(): Routes
  drainStateOf(instanceId: string): InFlight
  /** What connections to databases have brought since this was asked last. */
  passedOn(): Iterable<PassedOn>
}

export interface PassedOn {
  id: string
  instanceId: string
  receivedBytes: number
  sentBytes: number
}

type Wanted = Map<string, { serviceId: string; instanceId: string }>

/**
 * Counts requests as they end, as running totals since this process started. Counting takes one look-up and some additions, and
 * nothing is allocated. Each reading has a number, and whatever is counted after it the next: so a reader is sent what has changed
 * since the one it names.
 */
export class TrafficCounters {
  readonly #epoch = crypto.randomUUID()
  readonly #served: Served
  readonly #entries = new Map<string, Entry>()
  #routes: Routes | undefined
  #wanted: Wanted = new Map()
  #revision = 1

  constructor(served: Served) {
    this.#served = served
  }

  count(note: RequestNote, latencyMs: number): void {
    const { status, isTunnel, isCutOff, hasFailed } = note
    const entry = this.#entryOf(note.serviceId, note.instanceId)
    const isLost = status === 0 || (isCutOff && !isTunnel)
    increment(entry.byClass, classOf(status, isTunnel, isLost))
    entry.receivedBytes += note.receivedBytes
    entry.sentBytes += note.sentBytes
    entry.revision = this.#revision
    if (!isLost && hasFailed) increment(entry.failures, status - BAD_GATEWAY)
    if (isLost && status !== 0) {
      entry.cutOff++
      if (hasFailed) entry.brokenOff++
    }
    if (!isLost && !isTunnel) increment(entry.latency, latencyBucket(latencyMs))
  }

  /** Connections to databases count as tunnels when they begin, and their bytes as they go. */
  countConnection(id: string, instanceId: string): void {
    const entry = this.#entryOf(id, instanceId)
    increment(entry.byClass, TUNNEL_CLASS)
    entry.revision = this.#revision
  }

  read(known: KnownCounts | undefined): TrafficCounts {
    const knownRevision = known?.epoch === this.#epoch ? known.revision : 0
    this.#observe()
    const revision = this.#revision++
    const entries: TrafficEntry[] = []
    for (const [key, entry] of this.#entries) {
      if (entry.revision > knownRevision) entries.push(toWire(entry))
      else if (entry.isGone) this.#entries.delete(key)
    }
    return { epoch: this.#epoch, revision, entries }
  }

  #entryOf(serviceId: string, instanceId: string): Entry {
    const key = instanceId === '' ? serviceId : instanceId
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const entry = newEntry(serviceId, instanceId, this.#revision)
    this.#entries.set(key, entry)
    return entry
  }

  #observe(): void {
    this.#followRoutes()
    for (const { id, instanceId, receivedBytes, sentBytes } of this.#served.passedOn()) {
      const entry = this.#entryOf(id, instanceId)
      entry.receivedBytes += receivedBytes
      entry.sentBytes += sentBytes
      entry.revision = this.#revision
    }
    const gone: Entry[] = []
    for (const [key, entry] of this.#entries) {
      const { inFlight, tunnels } = entry.instanceId === '' ? idle : this.#served.drainStateOf(entry.instanceId)
      const isGone = key !== '' && inFlight + tunnels === 0 && !this.#wanted.has(key)
      if (isGone) gone.push(entry)
      if (inFlight === entry.inFlight && tunnels === entry.tunnels && isGone === entry.isGone) continue
      Object.assign(entry, { inFlight, tunnels, isGone, revision: this.#revision })
    }
    for (const entry of gone.slice(0, Math.max(0, gone.length - MAX_GONE))) this.#fold(entry)
  }

  #followRoutes(): void {
    const routes = this.#served.routes()
    if (routes === this.#routes) return
    this.#routes = routes
    this.#wanted = wantedBy(routes)
    for (const { serviceId, instanceId } of this.#wanted.values()) this.#entryOf(serviceId, instanceId)
  }

  #fold(entry: Entry): void {
    if (entry.instanceId === '') return
    this.#entries.delete(entry.instanceId)
    const sum = this.#entryOf(entry.serviceId, '')
    for (const counts of ['byClass', 'failures', 'latency'] as const) {
      for (const [index, count] of entry[counts].entries()) sum[counts][index] = (sum[counts][index] ?? 0) + count
    }
    for (const count of ['cutOff', 'brokenOff', 'receivedBytes', 'sentBytes'] as const) sum[count] += entry[count]
    sum.revision = this.#revision
  }
}

const idle: InFlight = { inFlight: 0, tunnels: 0 }

function classOf(status: number, isTunnel: boolean, isLost: boolean): number {
  if (isLost) return 0
  return isTunnel ? TUNNEL_CLASS : Math.trunc(status / 100)
}

function wantedBy(routes: Routes): Wanted {
  const wanted: Wanted = new Map()
  for (const route of routes.values()) {
    const { serviceId } = route
    wanted.set(serviceId, { serviceId, instanceId: '' })
    if (route.kind !== 'proxy') continue
    for (const { instanceId } of route.targets) wanted.set(instanceId, { serviceId, instanceId })
  }
  return wanted
}

function newEntry(serviceId: string, instanceId: string, revision: number): Entry {
  const zeros = (length: number): number[] => Array<number>(length).fill(0)
  return {
    ...{ serviceId, instanceId, beganAt: Date.now(), byClass: zeros(6), failures: zeros(3), latency: zeros(LATENCY_BUCKETS) },
    ...{ cutOff: 0, brokenOff: 0, receivedBytes: 0, sentBytes: 0, inFlight: 0, tunnels: 0, isGone: false, revision },
  }
}

function toWire({ revision: _, ...entry }: Entry): TrafficEntry {
  return entry
}

function increment(counts: number[], index: number): void {
  const count = counts[index]
  if (count !== undefined) counts[index] = count + 1
}
