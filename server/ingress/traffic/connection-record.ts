/**
 * How the ingress writes down what becomes of a connection to a database: a line as for a request (see `access-record.ts`), with `=` in
 * the place of a status.
 */
import { plain } from './access-record.ts'

const CONNECTION = '='
const WHOLE = '.'
const FIELDS = 11
const MAX_ABOUT = 200

export const connectionEvents = ['opened', 'closed', 'refused'] as const
export type ConnectionEvent = (typeof connectionEvents)[number]

export interface ConnectionRecord {
  /** Milliseconds since 1970. */
  at: number
  id: string
  instanceId: string
  event: ConnectionEvent
  address: string
  /** The user and the database that were named, or why it was refused. */
  about: string
  durationMs: number
  receivedBytes: number
  sentBytes: number
}

export function connectionRecord({
  at,
  id,
  instanceId,
  event,
  address,
  about,
  durationMs,
  receivedBytes,
  sentBytes,
}: ConnectionRecord): string {
  const numbers = `${Math.round(durationMs)}\t${receivedBytes}\t${sentBytes}`
  return `${at}\t${id}\t${instanceId}\t${CONNECTION}\t${event}\t${address}\t${plain(about, MAX_ABOUT)}\t${numbers}\t${WHOLE}\n`
}

/** A line as `connectionRecord` writes it; undefined for one of another kind, or one that was cut short. */
export function parseConnectionRecord(line: string): ConnectionRecord | undefined {
  const fields = line.split('\t')
  const [at = '', id = '', instanceId = '', mark, word, address = '', about = '', ...numbers] = fields
  const event = connectionEvents.find((one) => one === word)
  if (fields.length !== FIELDS || mark !== CONNECTION || event === undefined || fields.at(-1) !== WHOLE) return undefined
  const [durationMs = 0, receivedBytes = 0, sentBytes = 0] = numbers.map(Number)
  return { at: Number(at), id, instanceId, event, address, about, durationMs, receivedBytes, sentBytes }
}
