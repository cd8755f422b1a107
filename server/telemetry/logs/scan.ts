/**
 * Reading lines in order from chunks that may overlap in time. The chunk that may come first over all streams is opened next, until no
 * unopened chunk can come before the lines known: reading the newest lines opens a few chunks, however many there are.
 */
import type { Database } from 'bun:sqlite'
import { searchChunk } from './chunk.ts'
import { type Candidate, type Cursor, cursorMaker, isBefore, type Place, placeOf, type ScanOrder, streamsOf } from './cursor.ts'
import { fold, type LineTest } from './filter.ts'
import { mayContain, mayHoldKey, unpackGrams } from './grams.ts'
import type { LogLine } from './line.ts'
import { textsOf } from './request-line.ts'

export interface ScanRequest {
  test: LineTest
  order: ScanOrder
  /** Lines wanted. A few more come back where lines share the time of the last one wanted, and one more than that when there are more. */
  limit: number
  fromSeq?: number
  untilSeq?: number
}

export interface ScanState {
  lines: LogLine[]
  /** Lines at or beyond the time of this place (for arrival: its number) may still be missing; undefined when everything has been read. */
  reached: Place | undefined
}

interface Scan {
  db: Database
  test: LineTest
  order: ScanOrder
  limit: number
  fromSeq: number
  untilSeq: number
}

export function* scan(db: Database, request: ScanRequest): Generator<ScanState, ScanState> {
  const options: Scan = { fromSeq: 0, untilSeq: Number.MAX_SAFE_INTEGER, ...request, db }
  const makeCursor = cursorMaker(db, options)
  const cursors = streamsOf(db, options.test).map(makeCursor)
  const state: ScanState = { lines: [], reached: undefined }
  let next = earliest(cursors)
  while (next !== undefined && !hasEnough(state.lines, next.place, options)) {
    const found = openChunk(next, options)
    if (found.length > 0) state.lines = merge(state.lines, found, options)
    next.cursor.advance()
    next = earliest(cursors)
    state.reached = next?.place
    yield state
  }
  state.reached = next?.place
  return state
}

export function settledLines({ lines, reached }: ScanState, order: ScanOrder): LogLine[] {
  return reached === undefined ? lines : lines.filter((line) => placeOf(line, order).a < reached.a)
}

function earliest(cursors: readonly Cursor[]): Candidate | undefined {
  let best: Candidate | undefined
  for (const cursor of cursors) {
    const candidate = cursor.current()
    if (candidate !== undefined && (best === undefined || isBefore(candidate.place, best.place))) best = candidate
  }
  return best
}

function hasEnough(lines: readonly LogLine[], next: Place, { order, limit }: Scan): boolean {
  const last = lines[limit - 1]
  const end = lines.at(-1)
  if (last === undefined || end === undefined || end === last) return false
  return placeOf(end, order).a > placeOf(last, order).a && placeOf(end, order).a < next.a
}

function openChunk({ cursor, lastSeq }: Candidate, { db, test, fromSeq, untilSeq }: Scan): LogLine[] {
  if (!isPromising(db, lastSeq, test)) return []
  const row = db
    .query<{ header: Uint8Array; body: Uint8Array }, [number]>('SELECT header, body FROM chunks WHERE last_seq = ?')
    .get(lastSeq)
  if (row === null) return []
  return searchChunk(cursor.stream, row, test).filter((line) => line.seq >= fromSeq && line.seq < untilSeq)
}

function isPromising(db: Database, lastSeq: number, { terms, instances, labels }: LineTest): boolean {
  if (terms.length === 0 && instances === undefined && labels.length === 0) return true
  const packed = db.query<{ grams: Uint8Array | null }, [number]>('SELECT grams FROM chunks WHERE last_seq = ?').get(lastSeq)?.grams
  if (packed === null || packed === undefined) return true
  const grams = unpackGrams(packed)
  if (instances !== undefined && ![...instances].some((instance) => mayHoldKey(grams, instance))) return false
  const isLabelled = labels.every((label) => textsOf(label)?.some((text) => mayContain(grams, fold(text))) ?? true)
  return isLabelled && terms.every((term) => mayContain(grams, term))
}

function merge(known: readonly LogLine[], found: readonly LogLine[], { order, limit }: Scan): LogLine[] {
  const all = [...known, ...found].sort((left, right) => (isBefore(placeOf(left, order), placeOf(right, order)) ? -1 : 1))
  const last = all[limit - 1]
  if (last === undefined) return all
  const time = placeOf(last, order).a
  const beyond = all.findIndex((line, index) => index >= limit && placeOf(line, order).a !== time)
  return beyond === -1 ? all : all.slice(0, beyond + 1)
}
