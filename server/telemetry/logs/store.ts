/**
 * The lines of builds, apps and requests, in a SQLite database of their own: packed chunks of one service and type (chunk.ts), joined as
 * they grow (compact.ts), and searched by the same test that live lines pass (filter.ts). Everything is in the database when `append`
 * returns; a killed process loses nothing of it.
 */
import type { LogLabel } from '../../../shared/log.ts'
import { pageItems } from '../../../shared/schema.ts'
import { createAppender, type StoredCursor } from './append.ts'
import { streamsOf } from './cursor.ts'
import { openLogDatabase } from './database.ts'
import { compileFilter, type LineTest, type LogFilter } from './filter.ts'
import type { LogLine, NewLogLine } from './line.ts'
import {
  type ArrivalPage,
  type ArrivalRequest,
  DEFAULT_SEARCH_MS,
  type Direction,
  type LogPageResult,
  queryArrival,
  queryPage,
} from './query.ts'
import { createReaders } from './readers.ts'
import { pruneLogs, type Retention, removeLogs } from './retention.ts'
import { labelValues } from './values.ts'

export interface LogQueryOptions extends LogFilter {
  direction?: Direction
  limit?: number
  searchMs?: number
  signal?: AbortSignal
}

export interface LogStore {
  /** Stores lines, and how far their sources have been read, in one transaction. Returns them as stored. */
  append(lines: readonly NewLogLine[], cursors?: readonly StoredCursor[]): LogLine[]
  /** One page of lines. Giving back `nextStartAt` and `nextEndAt` while `hasMore` yields each line exactly once. */
  query(options: LogQueryOptions): Promise<LogPageResult>
  readArrival(request: ArrivalRequest, signal?: AbortSignal): Promise<ArrivalPage>
  values(label: LogLabel, filter: LogFilter): string[]
  nextSeq(): number
  /** The last line of the test's services that retention has removed, or 0. */
  prunedSeq(test: LineTest): number
  /** Called with every batch of lines, after it is stored and before `append` returns. */
  listen(listener: (lines: readonly LogLine[]) => void): () => void
  cursor(key: string): string | undefined
  forgetCursor(key: string): void
  /** Makes what is stored safe against a loss of power as well. */
  sync(): void
  prune(retention: Retention, now: number): Promise<number>
  removeService(serviceId: string): Promise<void>
  close(): void
}

/** @throws AppError `unavailable` when the database was written by a newer executable. */
export function openLogStore(path: string): LogStore {
  const db = openLogDatabase(path)
  const readers = createReaders(path)
  const appender = createAppender(db)
  const listeners = new Set<(lines: readonly LogLine[]) => void>()
  return {
    append(newLines, cursors) {
      const lines = appender.append(newLines, cursors)
      if (lines.length > 0) for (const listener of listeners) listener(lines)
      return lines
    },
    query({ direction = 'backward', limit = pageItems.default, searchMs = DEFAULT_SEARCH_MS, signal, ...filter }) {
      const request = { test: compileFilter(filter), direction, limit: clampLimit(limit), endOfTime: appender.endOfTime(Date.now()) }
      return readers.use((reader) => queryPage(reader, request, { searchMs, signal }))
    },
    readArrival: (request, signal) => readers.use((reader) => queryArrival(reader, request, { searchMs: DEFAULT_SEARCH_MS, signal })),
    values: (label, filter) => labelValues(db, label, compileFilter(filter)),
    nextSeq: appender.nextSeq,
    prunedSeq: (test) => Math.max(0, ...streamsOf(db, test).map((stream) => stream.pruned_seq)),
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    cursor: (key) => db.query<{ cursor: string }, [string]>('SELECT cursor FROM cursors WHERE source = ?').get(key)?.cursor,
    forgetCursor: (key) => void db.run('DELETE FROM cursors WHERE source = ?', [key]),
    sync: () => db.run('PRAGMA wal_checkpoint(PASSIVE)'),
    prune: (retention, now) => pruneLogs(db, retention, now),
    removeService: (serviceId) => removeLogs(db, serviceId, appender.forgetStreams),
    close() {
      readers.close()
      db.close()
    },
  }
}

const clampLimit = (limit: number): number => Math.max(1, Math.min(pageItems.most, Math.trunc(limit)))
