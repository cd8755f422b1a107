import type { Log, LogLabel, LogPage } from '../../../shared/log.ts'
import type { LogLine } from './line.ts'
import type { LogPageResult } from './query.ts'

export function toWire(line: LogLine): Log {
  const values: [LogLabel, string | undefined][] = [
    ['resource', line.resource],
    ['instance', line.instance],
    ['level', line.level],
    ['type', line.type],
    ['host', line.labels?.host],
    ['method', line.labels?.method],
    ['statusCode', line.labels?.statusCode],
    ['path', line.labels?.path],
  ]
  return {
    id: logId(line.seq),
    message: line.message,
    timestamp: formatLogTime(line.at),
    labels: values.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [{ name, value }])),
  }
}

const frames = new WeakMap<LogLine, string>()

/** A line as the subscription socket sends it. Many may follow the same lines, so each is written once. */
export function frameOf(line: LogLine): string {
  const known = frames.get(line)
  if (known !== undefined) return known
  const frame = JSON.stringify(toWire(line))
  frames.set(line, frame)
  return frame
}

export const toWirePage = (page: LogPageResult): LogPage => ({
  hasMore: page.hasMore,
  nextStartTime: formatLogTime(page.nextStartAt),
  nextEndTime: formatLogTime(page.nextEndAt),
  logs: page.logs.map(toWire),
})

const ID_DIGITS = 11

const logId = (seq: number): string => `log-${seq.toString(32).padStart(ID_DIGITS, '0')}`

const US_PER_MS = 1000
const FRACTION_DIGITS = 6

/** RFC 3339 with microseconds: the most that Python and Go read without loss, and enough to tell lines apart. */
export function formatLogTime(at: number): string {
  const micros = at % US_PER_MS
  return new Date((at - micros) / US_PER_MS).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`)
}

/** Microseconds since 1970 of an RFC 3339 time, or undefined when it is none. Digits beyond microseconds are dropped. */
export function parseLogTime(text: string): number | undefined {
  const [, fraction = ''] = /\.(\d+)/.exec(text) ?? []
  const wholeMs = Date.parse(text.replace(/\.\d+/, ''))
  if (Number.isNaN(wholeMs)) return undefined
  return wholeMs * US_PER_MS + Number(fraction.slice(0, FRACTION_DIGITS).padEnd(FRACTION_DIGITS, '0'))
}
