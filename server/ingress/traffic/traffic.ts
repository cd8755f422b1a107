import type { ClientSide } from '../exchange/exchange.ts'
import type { RequestNote } from '../exchange/request-note.ts'
import { AccessLog } from './access-log.ts'
import { type ConnectionRecord, connectionRecord } from './connection-record.ts'
import { type Served, TrafficCounters } from './counters.ts'
import type { KnownCounts, TrafficCounts } from './counts.ts'
import { leaveCounts } from './last-counts.ts'

export interface IngressTrafficOptions {
  served: Served
  lastCountsDir: string | undefined
  accessLogDir: string | undefined
  isTrusted: (address: string) => boolean
  log: (line: string) => void
}

export interface IngressTraffic {
  finished(note: RequestNote, client: ClientSide): void
  noted(connection: Omit<ConnectionRecord, 'at'>): void
  read(known: KnownCounts | undefined): TrafficCounts
  close(): Promise<void>
}

export function createTraffic({ served, lastCountsDir, accessLogDir, isTrusted, log }: IngressTrafficOptions): IngressTraffic {
  const counters = new TrafficCounters(served)
  const accessLog = accessLogDir === undefined ? undefined : new AccessLog({ dir: accessLogDir, isTrusted, log })
  return {
    finished(note, client) {
      const durationMs = performance.now() - note.startedAt
      counters.count(note, durationMs)
      accessLog?.add(note, client, durationMs)
    },
    noted(connection) {
      if (connection.event === 'opened') counters.countConnection(connection.id, connection.instanceId)
      accessLog?.addLine(connection.id, connectionRecord({ ...connection, at: Date.now() }))
    },
    read: (known) => counters.read(known),
    async close() {
      await accessLog?.close().catch((error) => log(`The access log was not closed: ${error}`))
      if (lastCountsDir === undefined) return
      await leaveCounts(lastCountsDir, counters.read(undefined)).catch((error) => log(`The last counts are lost: ${error}`))
    },
  }
}
