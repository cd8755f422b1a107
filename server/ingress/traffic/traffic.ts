import type { ClientSide } from '../exchange.ts'
import type { RequestNote } from '../request-note.ts'
import { AccessLog } from './access-log.ts'
import { type Served, TrafficCounters } from './counters.ts'
import type { KnownCounts, TrafficCounts } from './counts.ts'

export interface IngressTrafficOptions {
  served: Served
  /** Without it no request is logged. */
  accessLogDir: string | undefined
  isTrusted: (address: string) => boolean
  log: (line: string) => void
}

/** What is told of requests that are over. */
export interface IngressTraffic {
  finished(note: RequestNote, client: ClientSide): void
  read(known: KnownCounts | undefined): TrafficCounts
  /** Writes down what is still to be written. */
  close(): Promise<void>
}

export function createTraffic({ served, accessLogDir, isTrusted, log }: IngressTrafficOptions): IngressTraffic {
  const counters = new TrafficCounters(served)
  const accessLog = accessLogDir === undefined ? undefined : new AccessLog({ dir: accessLogDir, isTrusted, log })
  return {
    finished(note, client) {
      const durationMs = performance.now() - note.startedAt
      counters.count(note, durationMs)
      accessLog?.add(note, client, durationMs)
    },
    read: (known) => counters.read(known),
    async close() {
      await accessLog?.close()
    },
  }
}
