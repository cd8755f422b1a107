import { closeSync, constants, openSync, readSync, statSync } from 'node:fs'
import type { LogType } from '../../../shared/log.ts'
import type { FilePosition } from './append.ts'
import { guessLevel } from './level.ts'
import type { NewLogLine } from './line.ts'
import { type Allowance, fullAllowance, keptBytes, type LogRate, maxUnread, readableBytes, refilled, spent } from './rate.ts'
import { splitLines } from './split.ts'

/** Whose output a file holds. */
export interface OutputFile {
  path: string
  /** Id of the service. */
  resource: string
  /** Id of the instance, or '' for a build. */
  instance: string
  deployId?: string
  type: LogType
}

/** A file whose lines say themselves what they are of. */
export interface RecordFile {
  path: string
  /** The line a record stands for; undefined for one that is none. */
  read(record: string): NewLogLine | undefined
}

/** An output file being followed. `file` and `offset` only ever change together with what is stored. */
export interface Tail {
  output: OutputFile | RecordFile
  file: string
  offset: number
  /** What `statSync` last said; the file is read again when it says something else. */
  seenBytes: number
  /** Whose bytes these were: a file in which nothing was written yet has been seen as well. */
  seenFile: string
  grewAt: number
  /** The file's space has been given back up to here. */
  releasedOffset: number
  /** The file system can give back a part of a file, as far as we know. */
  isReleasable: boolean
  /** What may be read of it now, where that is limited. */
  allowance: Allowance | undefined
  leftOut: LeftOut
}

/** What was left out of a file and has not been told of yet: it is told of once a second, not with every poll. */
export interface LeftOut {
  bytes: number
  toldAt: number
}

export interface TailLimits {
  maxLineBytes: number
  /** A file further behind than this is not read through: its oldest part is skipped, and a line says so. */
  maxUnreadBytes: number
  /** How fast a file is read, and how far behind it may be at that; undefined: as fast as we can. */
  rate?: LogRate | undefined
}

/** Lines to be stored, and the position to be stored with them. */
export interface TailStep {
  tail: Tail
  lines: NewLogLine[]
  position: FilePosition
  /** There was more than could be read at once. */
  hasMore: boolean
  /** What of the file's allowance is left. */
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
    leftOut: { bytes: 0, toldAt: 0 },
  }
}

const STEP_BYTES = 256 * 1024

export interface ReadOptions {
  /** Nothing will be written any more: an unterminated rest is a line as well. */
  isFinal: boolean
  now: number
  /** Everything that is there is wanted now, however fast it came. */
  isDrain?: boolean
}

/** Reads the next lines of a file, at most about 256 KB. Undefined when there is nothing new to store, or nothing more may be read yet. */
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
    // The rest is due though the file may not grow any more.
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
  // Records are those of many services, and bounded by who writes them.
  if (rate === undefined || 'read' in tail.output) return undefined
  return tail.allowance === undefined ? fullAllowance(rate, now) : refilled(tail.allowance, rate, now)
}

interface Excess {
  keepBytes: number
  because: string
}

/** Whether a file is so far behind that a part of it is left out, how much is kept then, and why. */
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

const TELL_EVERY_MS = 1000

/** Skips the oldest part, and says so in a line, together with what was skipped since the last such line. */
function leaveOut(tail: Tail, { state, start, allowance, limits, now, excess }: LeavingOut): TailStep {
  const { path } = tail.output
  const offset = skipTo(path, state.sizeBytes - excess.keepBytes, limits.maxLineBytes)
  const bytes = tail.leftOut.bytes + offset - start
  const isTold = allowance === undefined || now - tail.leftOut.toldAt >= TELL_EVERY_MS
  const lines = Math.round(bytes / (allowance?.lineBytes ?? Number.POSITIVE_INFINITY))
  const about = lines > 0 ? ` (about ${lines} lines)` : ''
  const line = isTold ? lineOf(tail.output, `${excess.because}: ${bytes} bytes${about} were left out here.`, now) : undefined
  return {
    tail,
    lines: line === undefined ? [] : [line],
    position: { path, file: state.file, offset },
    hasMore: true,
    allowance,
    leftOut: isTold ? { bytes: 0, toldAt: now } : { ...tail.leftOut, bytes },
  }
}

/** To be called once the step's lines are stored. */
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

/** The start of the first line at or after `offset`, or `offset` where lines are too long to tell. */
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
