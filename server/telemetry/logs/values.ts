import type { Database } from 'bun:sqlite'
import { type LogLabel, logLevels } from '../../../shared/log.ts'
import { boundedTime, levelMask, type Stream, streamsOf } from './cursor.ts'
import type { LineTest } from './filter.ts'
import type { LogLine } from './line.ts'
import { type ScanState, scan } from './scan.ts'

/** Labels of requests have too many values to be kept apart: they are read from this many of the newest lines. */
const SAMPLED_LINES = 2000

/** The values a label takes, sorted. Searched text is left out of account; time counts by chunk, so a value from just outside may be among them. */
export function labelValues(db: Database, label: LogLabel, test: LineTest): string[] {
  const found = new Set(valuesOf(db, label, test))
  return [...found].sort()
}

function valuesOf(db: Database, label: LogLabel, test: LineTest): string[] {
  switch (label) {
    case 'resource':
      return activeStreams(db, test).map((stream) => stream.resource)
    case 'type':
      return activeStreams(db, test).map((stream) => stream.type)
    case 'instance':
      return streamsOf(db, test).flatMap((stream) => instancesOf(db, stream, test))
    case 'level':
      return levelsOf(db, test)
    default:
      return newestLines(db, test).flatMap((line) => line.labels?.[label] ?? [])
  }
}

const activeStreams = (db: Database, test: LineTest): Stream[] => streamsOf(db, test).filter((stream) => levelsIn(db, stream, test) !== 0)

function instancesOf(db: Database, stream: Stream, test: LineTest): string[] {
  return db
    .query<{ instance: string }, Record<string, number>>(
      "SELECT instance FROM origins WHERE stream = $stream AND last_at >= $from AND first_at < $to AND instance <> ''",
    )
    .all({ stream: stream.id, from: boundedTime(test.startAt), to: boundedTime(test.endAt) })
    .map((row) => row.instance)
    .filter((instance) => test.instances === undefined || test.instances.has(instance))
}

function levelsOf(db: Database, test: LineTest): string[] {
  const mask = streamsOf(db, test).reduce((bits, stream) => bits | levelsIn(db, stream, test), 0)
  return logLevels.filter((_, bit) => (mask & (1 << bit)) !== 0)
}

function levelsIn(db: Database, stream: Stream, test: LineTest): number {
  const rows = db
    .query<{ levels: number }, Record<string, number>>(
      `SELECT DISTINCT levels FROM chunks INDEXED BY chunks_backward WHERE stream = $stream AND max_at >= $from AND min_at < $to`,
    )
    .all({ stream: stream.id, from: boundedTime(test.startAt), to: boundedTime(test.endAt) })
  return rows.reduce((bits, row) => bits | row.levels, 0) & levelMask(test)
}

function newestLines(db: Database, test: LineTest): LogLine[] {
  const steps = scan(db, { test: { ...test, terms: [] }, order: 'backward', limit: SAMPLED_LINES })
  let step: IteratorResult<ScanState, ScanState> = steps.next()
  while (!step.done) step = steps.next()
  return step.value.lines
}
