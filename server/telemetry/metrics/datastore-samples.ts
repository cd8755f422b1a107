/** What a server of a datastore has told: gauges on average, and what was counted in `spanMs` milliseconds. */
export interface DatastoreSample {
  /** Beginning of the window, in seconds since 1970. */
  at: number
  samples: number
  connections: number
  /** Bytes that keys and values take; 0 for databases, as `keys` and `evictions` are. */
  memory: number
  keys: number
  spanMs: number
  hits: number
  misses: number
  evictions: number
  /** Commands of key-value stores, transactions of databases. */
  operations: number
}

const counts = ['spanMs', 'hits', 'misses', 'evictions', 'operations'] as const
const gauges = ['connections', 'memory', 'keys'] as const

export function joinDatastores(at: number, parts: readonly DatastoreSample[]): DatastoreSample {
  const samples = parts.reduce((total, part) => total + part.samples, 0)
  const joined = { at, samples, connections: 0, memory: 0, keys: 0, spanMs: 0, hits: 0, misses: 0, evictions: 0, operations: 0 }
  for (const part of parts) {
    for (const name of counts) joined[name] += part[name]
    for (const name of gauges) joined[name] += samples === 0 ? 0 : (part[name] * part.samples) / samples
  }
  return joined
}

/** What a server counts from its start on, and how it is now. */
export type DatastoreFigures = Omit<DatastoreSample, 'at' | 'samples' | 'spanMs'>

export interface DatastoreReading {
  /** The server that was asked: counts of another begin anew. */
  workloadId: string
  atMs: number
  figures: DatastoreFigures
}

/** Readings further apart (milliseconds) say nothing about now. */
const LONGEST_SPAN_MS = 5 * 60_000

/** A sample for the window at `at`: counted is what came since the reading before, of the same server. */
export function sampleOf(at: number, now: DatastoreReading, before: DatastoreReading | undefined): DatastoreSample {
  const spanMs = before?.workloadId === now.workloadId ? now.atMs - before.atMs : 0
  const isKnown = before !== undefined && spanMs > 0 && spanMs <= LONGEST_SPAN_MS
  const since = (name: (typeof counts)[number] & keyof DatastoreFigures): number =>
    isKnown ? Math.max(0, Math.round(now.figures[name] - before.figures[name])) : 0
  const { connections, memory, keys } = now.figures
  return {
    ...{ at, samples: 1, connections, memory, keys, spanMs: isKnown ? spanMs : 0 },
    ...{ hits: since('hits'), misses: since('misses'), evictions: since('evictions'), operations: since('operations') },
  }
}
