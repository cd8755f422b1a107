import type { Database, Statement } from 'bun:sqlite'
import { logLevels } from '../../../shared/log.ts'
import type { StreamKey } from './chunk.ts'
import type { LineTest } from './filter.ts'
import type { LogLine } from './line.ts'

export type ScanOrder = 'backward' | 'forward' | 'arrival'

/** A place in an order: smaller comes first, `a` before `b`. */
export interface Place {
  a: number
  b: number
}

export const isBefore = (left: Place, right: Place): boolean => left.a < right.a || (left.a === right.a && left.b < right.b)

export function placeOf(line: LogLine, order: ScanOrder): Place {
  if (order === 'arrival') return { a: line.seq, b: 0 }
  return order === 'forward' ? { a: line.at, b: line.seq } : { a: -line.at, b: -line.seq }
}

export interface Stream extends StreamKey {
  id: number
  pruned_seq: number
}

export function streamsOf(db: Database, test: LineTest): Stream[] {
  const { resources, types } = test
  const rows =
    resources === undefined
      ? db.query<Stream, []>('SELECT id, resource, type, pruned_seq FROM streams').all()
      : db
          .query<Stream, [string]>('SELECT id, resource, type, pruned_seq FROM streams WHERE resource IN (SELECT value FROM json_each(?))')
          .all(JSON.stringify([...resources]))
  return rows.filter((row) => types === undefined || types.has(row.type))
}

export const levelMask = (test: LineTest): number =>
  logLevels.reduce((mask, level, bit) => (test.levels === undefined || test.levels.has(level) ? mask | (1 << bit) : mask), 0)

export const boundedTime = (at: number): number => Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(at)))

export interface Cursor {
  stream: Stream
  /** The next chunk and the first place any of its lines can have. */
  current(): Candidate | undefined
  advance(): void
}

export interface Candidate {
  cursor: Cursor
  lastSeq: number
  place: Place
}

export interface CursorOptions {
  order: ScanOrder
  test: LineTest
  fromSeq: number
  untilSeq: number
}

interface ChunkRow {
  first_seq: number
  last_seq: number
  min_at: number
  max_at: number
}

const ROWS_AT_ONCE = 16

export function cursorMaker(db: Database, options: CursorOptions): (stream: Stream) => Cursor {
  const statement = db.query<ChunkRow, Record<string, number>>(listSql[options.order])
  const { test, fromSeq, untilSeq } = options
  const bounds = { from: boundedTime(test.startAt), to: boundedTime(test.endAt), levels: levelMask(test), fromSeq, untilSeq }
  return (stream) => createCursor(stream, options.order, { statement, bounds: { ...bounds, stream: stream.id } })
}

interface Listing {
  statement: Statement<ChunkRow, [Record<string, number>]>
  bounds: Record<string, number>
}

function createCursor(stream: Stream, order: ScanOrder, { statement, bounds }: Listing): Cursor {
  let rows: ChunkRow[] = []
  let index = 0
  let isLast = false
  const start = order === 'backward' ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER
  let after = { key: start, seq: start }
  const fill = () => {
    rows = statement.all({ ...bounds, ...after, count: ROWS_AT_ONCE })
    index = 0
    isLast = rows.length < ROWS_AT_ONCE
    const last = rows.at(-1)
    if (last !== undefined) after = { key: order === 'backward' ? last.max_at : last.min_at, seq: last.last_seq }
  }
  fill()
  const cursor: Cursor = {
    stream,
    current() {
      const row = rows[index]
      return row === undefined ? undefined : { cursor, lastSeq: row.last_seq, place: firstPlace(row, order) }
    },
    advance() {
      index++
      if (index === rows.length && !isLast) fill()
    },
  }
  return cursor
}

function firstPlace(row: ChunkRow, order: ScanOrder): Place {
  if (order === 'arrival') return { a: row.first_seq, b: 0 }
  return order === 'forward' ? { a: row.min_at, b: row.first_seq } : { a: -row.max_at, b: -row.last_seq }
}

const listed = 'SELECT first_seq, last_seq, min_at, max_at FROM chunks'
const bounded = `max_at >= $from AND min_at < $to AND levels & $levels AND first_seq < $untilSeq AND last_seq >= $fromSeq`

const listSql: Record<ScanOrder, string> = {
  backward: `${listed} INDEXED BY chunks_backward WHERE stream = $stream AND (max_at, last_seq) < ($key, $seq) AND ${bounded}
    ORDER BY max_at DESC, last_seq DESC LIMIT $count`,
  forward: `${listed} INDEXED BY chunks_forward WHERE stream = $stream AND (min_at, last_seq) > ($key, $seq) AND ${bounded}
    ORDER BY min_at, last_seq LIMIT $count`,
  arrival: `${listed} INDEXED BY chunks_arrival WHERE stream = $stream AND $key = $key AND last_seq > $seq AND ${bounded}
    ORDER BY last_seq LIMIT $count`,
}
