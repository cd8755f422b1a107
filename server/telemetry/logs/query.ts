import type { Database } from 'bun:sqlite'
import type { LineTest } from './filter.ts'
import type { LogLine } from './line.ts'
import { type ScanRequest, type ScanState, scan, settledLines } from './scan.ts'

export type Direction = 'backward' | 'forward'

export const DEFAULT_SEARCH_MS = 5000

export interface LogPageResult {
  /** In the wanted direction: backward begins with the newest. May be empty although there are more, after a long search. */
  logs: LogLine[]
  hasMore: boolean
  nextStartAt: number
  nextEndAt: number
}

export interface PageRequest {
  test: LineTest
  direction: Direction
  limit: number
  endOfTime: number
}

export interface SearchBudget {
  searchMs: number
  signal?: AbortSignal | undefined
}

export async function queryPage(reader: Database, request: PageRequest, budget: SearchBudget): Promise<LogPageResult> {
  const state = await search(reader, { test: request.test, order: request.direction, limit: request.limit }, budget)
  return pageOf(state, request)
}

export interface ArrivalPage {
  lines: LogLine[]
  /** The number of the line before which every line has been read. */
  nextSeq: number
}

export interface ArrivalRequest {
  test: LineTest
  fromSeq: number
  untilSeq: number
  limit: number
}

export async function queryArrival(reader: Database, request: ArrivalRequest, budget: SearchBudget): Promise<ArrivalPage> {
  const state = await search(reader, { ...request, order: 'arrival' }, budget)
  const settled = settledLines(state, 'arrival')
  const lines = settled.slice(0, request.limit)
  const last = lines.at(-1)
  if (last !== undefined && settled.length > lines.length) return { lines, nextSeq: last.seq + 1 }
  return { lines, nextSeq: Math.max(request.fromSeq, Math.min(request.untilSeq, state.reached?.a ?? request.untilSeq)) }
}

const STEP_MS = 8

/** Runs a scan in one transaction, so that it sees one moment, and hands the thread back every few milliseconds. */
async function search(reader: Database, request: ScanRequest, { searchMs, signal }: SearchBudget): Promise<ScanState> {
  const deadline = performance.now() + searchMs
  let pauseAt = performance.now() + STEP_MS
  reader.run('BEGIN')
  try {
    const steps = scan(reader, request)
    for (;;) {
      const step = steps.next()
      const time = performance.now()
      if (step.done || (time > deadline && hasProgress(step.value, request))) return step.value
      if (time < pauseAt) continue
      await new Promise((resolve) => setImmediate(resolve))
      signal?.throwIfAborted()
      pauseAt = performance.now() + STEP_MS
    }
  } finally {
    reader.run('COMMIT')
  }
}

function hasProgress({ reached }: ScanState, { test, order, fromSeq }: ScanRequest): boolean {
  const start = { forward: test.startAt, backward: -(test.endAt - 1), arrival: fromSeq ?? 0 }[order]
  return reached === undefined || reached.a > start
}

function pageOf(state: ScanState, { test, direction, limit, endOfTime }: PageRequest): LogPageResult {
  const settled = settledLines(state, direction)
  const lastTime = settled[limit - 1]?.at
  const cut = settled.findIndex((line, index) => index >= limit && line.at !== lastTime)
  const logs = cut === -1 ? settled : settled.slice(0, cut)
  const startAt = Number.isFinite(test.startAt) ? test.startAt : 0
  const endAt = Number.isFinite(test.endAt) ? test.endAt : endOfTime
  const isEndedEarly = cut === -1 && state.reached !== undefined
  const border = isEndedEarly ? state.reached?.a : borderAfter(logs, direction)
  return {
    logs,
    hasMore: cut !== -1 || isEndedEarly,
    nextStartAt: direction === 'forward' ? Math.max(startAt, border ?? startAt) : startAt,
    nextEndAt: direction === 'backward' ? Math.min(endAt, border === undefined ? endAt : Math.abs(border) + (isEndedEarly ? 1 : 0)) : endAt,
  }
}

function borderAfter(logs: readonly LogLine[], direction: Direction): number | undefined {
  const last = logs.at(-1)
  if (last === undefined) return undefined
  return direction === 'forward' ? last.at + 1 : last.at
}
