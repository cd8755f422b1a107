import { closeSync, constants, openSync, readSync, statSync } from 'node:fs'
import type { LogType } from '../../../shared/log.ts'
import type { FilePosition } from './append.ts'
import { guessLevel } from './level.ts'
import type { NewLogLine } from './line.ts'
import { type Allowance, fullAllowance, keptBytes, type LogRate, maxUnread, readableBytes, refilled, spent } from './rate.ts'
import { splitLines } from './split.ts'

export interface OutputFile {
  path: string
  resource: string
  instance: string
  deployId?: string
  type: LogType
}

export interface RecordFile {
  path: string
  read(record: string): NewLogLine | undefined
}

/** An output file being followed. `file` and `offset` only ever change together with what is stored. */
export interface Tail {
  output: OutputFile | RecordFile
  file: string
  offset: number
  seenBytes: number
  /** The file is told apart also while nothing was written to it. */
  seenFile: string
  grewAt: number
  releasedOffset: number
  isReleasable: boolean
  allowance: Allowance | undefined
  leftOut: LeftOut
}

export interface LeftOut {
  bytes: number
  reportedAt: number
}

export interface TailLimits {
  maxLineBytes: number
  /** A file further behind than this is not read through: its oldest part is skipped, and a line says so. */
  maxUnreadBytes: number
  rate?: LogRate | undefined
}

export interface TailStep {
  tail: Tail
  lines: NewLogLine[]
  position: FilePosition
  hasMore: boolean
  allowance: Allowance | undefined
  leftOut: LeftOut
}

export interface FileState {
  file: string
  sizeBytes: number
}

/** The file's identity and length now, or undefined when there is none. */
export function fileState(path: string): FileState | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined || !stat.isFile()) return undefined
  // The time of birth tells a new file from a removed one whose inode it was given.
  return { file: `${stat.dev}:${stat.ino}:${Math.trunc(stat.birthtimeMs)}`, sizeBytes: stat.size }
}

export function startTail(output: OutputFile | RecordFile, position: FilePosition | undefined): Tail {
  return {
    output,
    file: position?.file ?? '',
    offset: position?.offset ?? 0,
    seenBytes: -1,
    seenFile: '',
    grewAt: 0,
    releasedOffset: 0,
    isReleasable: true,
    allowance: undefined,
    leftOut: { bytes: 0, reportedAt: 0 },
  }
}

const STEP_BYTES = 256 * 1024

export interface ReadOptions {
  /** Nothing will be written any more: an unterminated rest is a line as well. */
  isFinal: boolean
  now: number
  isDrain?: boolean
}

/** Reads the next lines of a file, at most about 256 KB. Undefined when there is nothing new, or nothing more may be read yet. */
export function readTail(tail: Tail, limits: TailLimits, options: ReadOptions): TailStep | undefined {
  const state = fileState(tail.output.path)
  if (state === undefined) return undefined
  tail.seenBytes = state.sizeBytes
  tail.seenFile = state.file
  const start = startOf(tail, state)
  const unread = state.sizeBytes - start
  const allowance = allowanceOf(tail, limits, options.now)
  const excess = excessOf(unread, allowance, limits)
  if (excess !== undefined) return leaveOut(tail, { state, start, allowance, limits, now: options.now, excess })
  const readable = allowance === undefined || options.isDrain ? STEP_BYTES : Math.min(STEP_BYTES, readableBytes(allowance))
  if (readable <= 0) {
    if (unread > 0) tail.seenBytes = -1
    return undefined
  }
  const bytes = readAt(tail.output.path, start, Math.min(unread, Math.max(readable, limits.maxLineBytes * 2)))
  const isFinal = options.isFinal && bytes.length === unread
  const { messages, consumedBytes } = splitLines(bytes, { maxLineBytes: limits.maxLineBytes, isFinal })
  if (consumedBytes === 0) return undefined
  return {
    tail,
    lines: messages.flatMap((message) => lineOf(tail.output, message, options.now) ?? []),
    position: { path: tail.output.path, file: state.file, offset: start + consumedBytes },
    hasMore: bytes.length < unread,
    allowance: allowance && spent(allowance, { lines: messages.length, bytes: consumedBytes }),
    leftOut: tail.leftOut,
  }
}

function allowanceOf(tail: Tail, { rate }: TailLimits, now: number): Allowance | undefined {
  if (rate === undefined || 'read' in tail.output) return undefined
  return tail.allowance === undefined ? fullAllowance(rate, now) : refilled(tail.allowance, rate, now)
}

interface Excess {
  keepBytes: number
  because: string
}

function excessOf(unread: number, allowance: Allowance | undefined, { maxUnreadBytes, rate }: TailLimits): Excess | undefined {
  if (allowance !== undefined && rate !== undefined && unread > maxUnread(allowance, rate)) {
    const because = `Output came faster than ${rate.linesPerSecond} lines or ${Math.round(rate.bytesPerSecond / 1024)} KB a second, which is what is kept`
    return { keepBytes: Math.min(keptBytes(allowance, rate), maxUnreadBytes), because }
  }
  if (unread <= maxUnreadBytes) return undefined
  return { keepBytes: Math.floor(maxUnreadBytes / 2), because: 'Output came faster than it could be stored' }
}

interface LeavingOut {
  state: FileState
  start: number
  allowance: Allowance | undefined
  limits: TailLimits
  now: number
  excess: Excess
}

const REPORT_EVERY_MS = 1000

/** Skips the oldest part, and says so in a line, together with what was skipped since the last such line. */
function leaveOut(tail: Tail, { state, start, allowance, limits, now, excess }: LeavingOut): TailStep {
  const { path } = tail.output
  const offset = skipTo(path, state.sizeBytes - excess.keepBytes, limits.maxLineBytes)
  const bytes = tail.leftOut.bytes + offset - start
  const isReported = allowance === undefined || now - tail.leftOut.reportedAt >= REPORT_EVERY_MS
  const lines = Math.round(bytes / (allowance?.lineBytes ?? Number.POSITIVE_INFINITY))
  const about = lines > 0 ? ` (about ${lines} lines)` : ''
  const line = isReported ? lineOf(tail.output, `${excess.because}: ${bytes} bytes${about} were left out here.`, now) : undefined
  return {
    tail,
    lines: line === undefined ? [] : [line],
    position: { path, file: state.file, offset },
    hasMore: true,
    allowance,
    leftOut: isReported ? { bytes: 0, reportedAt: now } : { ...tail.leftOut, bytes },
  }
}

export function commitTail({ tail, position, allowance, leftOut }: TailStep): void {
  if (tail.file !== position.file || position.offset < tail.offset) tail.releasedOffset = 0
  tail.file = position.file
  tail.offset = position.offset
  tail.allowance = allowance
  tail.leftOut = leftOut
}

/** A file that is not the one known, or has become shorter, is read from its start. */
const startOf = (tail: Tail, state: FileState): number => (tail.file === state.file && tail.offset <= state.sizeBytes ? tail.offset : 0)

function lineOf(output: OutputFile | RecordFile, message: string, now: number): NewLogLine | undefined {
  if ('read' in output) return output.read(message)
  const { path: _, ...origin } = output
  return { ...origin, timestampMs: now, level: guessLevel(message), message }
}

function skipTo(path: string, offset: number, maxLineBytes: number): number {
  const newline = readAt(path, offset, maxLineBytes).indexOf(10)
  return newline === -1 ? offset : offset + newline + 1
}

function readAt(path: string, offset: number, length: number): Buffer {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const buffer = Buffer.allocUnsafe(length)
    return buffer.subarray(0, readSync(descriptor, buffer, 0, length, offset))
  } finally {
    closeSync(descriptor)
  }
}
