import { closeSync, constants, openSync, readSync, statSync } from 'node:fs'
import type { LogType } from '../../shared/log.ts'
import type { FilePosition } from './append.ts'
import { guessLevel } from './level.ts'
import type { NewLogLine } from './line.ts'
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
  grewAt: number
  /** The file's space has been given back up to here. */
  releasedOffset: number
}

export interface TailLimits {
  maxLineBytes: number
  /** A file further behind than this is not read through: its oldest part is skipped, and a line says so. */
  maxUnreadBytes: number
}

/** Lines to be stored, and the position to be stored with them. */
export interface TailStep {
  tail: Tail
  lines: NewLogLine[]
  position: FilePosition
  /** There was more than could be read at once. */
  hasMore: boolean
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
  return { output, file: position?.file ?? '', offset: position?.offset ?? 0, seenBytes: -1, grewAt: 0, releasedOffset: 0 }
}

const STEP_BYTES = 256 * 1024

/** Reads the next lines of a file, at most about 256 KB. Undefined when there is nothing new to store. */
export function readTail(tail: Tail, limits: TailLimits, options: { isFinal: boolean; now: number }): TailStep | undefined {
  const state = fileState(tail.output.path)
  if (state === undefined) return undefined
  tail.seenBytes = state.sizeBytes
  const start = startOf(tail, state)
  const unread = state.sizeBytes - start
  const lines: NewLogLine[] = []
  const step = (offset: number, hasMore: boolean): TailStep => ({
    tail,
    lines,
    position: { path: tail.output.path, file: state.file, offset },
    hasMore,
  })
  const add = (message: string) => {
    const line = lineOf(tail.output, message, options.now)
    if (line !== undefined) lines.push(line)
  }
  if (unread > limits.maxUnreadBytes) {
    const offset = skipTo(tail.output.path, state.sizeBytes - Math.floor(limits.maxUnreadBytes / 2), limits.maxLineBytes)
    add(`Output came faster than it could be stored: ${offset - start} bytes were left out here.`)
    return step(offset, true)
  }
  const bytes = readAt(tail.output.path, start, Math.min(unread, Math.max(STEP_BYTES, limits.maxLineBytes * 2)))
  const isFinal = options.isFinal && bytes.length === unread
  const { messages, consumedBytes } = splitLines(bytes, { maxLineBytes: limits.maxLineBytes, isFinal })
  if (consumedBytes === 0) return undefined
  for (const message of messages) add(message)
  return step(start + consumedBytes, bytes.length < unread)
}

/** To be called once the step's lines are stored. */
export function commitTail({ tail, position }: TailStep): void {
  if (tail.file !== position.file || position.offset < tail.offset) tail.releasedOffset = 0
  tail.file = position.file
  tail.offset = position.offset
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
