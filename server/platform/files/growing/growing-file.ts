import { closeSync, constants, openSync, readSync, type Stats, statSync, truncateSync, unlinkSync } from 'node:fs'
import { releaseRange } from './release-range.ts'

const QUIET_AFTER_MS = 5000
const QUIET_PARTS = 5

export interface GrowingFileOptions {
  /** Whether its writers go on at its new end when it is emptied, which is done where the file system cannot give back a part of it. */
  mayBeEmptied: boolean
  releaseSpace?: typeof releaseRange
}

interface Reading {
  after?: string
  maxBytes: number
  newestBytes?: number
}

interface FileState {
  file: string
  sizeBytes: number
}

let made = 0

/** A cursor names a file and an offset in it: a file that is another one, or has become shorter, is read from its start. */
export class GrowingFile {
  readonly #path: string
  readonly #options: GrowingFileOptions
  #seen: FileState | undefined
  #grewAt = 0
  /** Files differ in the number they begin with, so that each question about all of them looks at a part of the quiet ones. */
  #questions = made++
  #isReleasable = true

  constructor(path: string, options: GrowingFileOptions) {
    this.#path = path
    this.#options = options
  }

  /** Whether there is something that the last read has not seen. A file that was quiet for a while is looked at once in five times. */
  hasNew(): boolean {
    const now = Date.now()
    this.#questions++
    if (this.#seen !== undefined && now - this.#grewAt > QUIET_AFTER_MS && this.#questions % QUIET_PARTS !== 0) return false
    const state = stateOf(this.#path)
    if (state === undefined || (state.sizeBytes === this.#seen?.sizeBytes && state.file === this.#seen.file)) return false
    this.#grewAt = now
    return true
  }

  /** What stands after a cursor, or from the start; with `newestBytes` only what is that near to the end. Undefined where there is no file. */
  async read({ after, maxBytes, newestBytes = Number.POSITIVE_INFINITY }: Reading) {
    const state = stateOf(this.#path)
    if (state === undefined) return undefined
    this.#seen = state
    const start = offsetIn(state, after)
    const from = Math.max(start, state.sizeBytes - newestBytes)
    const bytes = readAt(this.#path, from, Math.min(maxBytes, state.sizeBytes - from))
    return {
      bytes,
      skippedBytes: from - start,
      unreadBytes: state.sizeBytes - from - bytes.length,
      cursorAt: (count: number) => cursorOf(state, from + count),
    }
  }

  /** Gives the space before a cursor back to the file system. Returns the cursor to go on from; undefined when nothing went. */
  async release(cursor: string): Promise<string | undefined> {
    const { mayBeEmptied, releaseSpace = releaseRange } = this.#options
    const state = stateOf(this.#path)
    const offset = state === undefined ? 0 : offsetIn(state, cursor)
    if (state === undefined || offset === 0) return cursor
    this.#isReleasable &&= releaseSpace(this.#path, 0, offset)
    if (this.#isReleasable || !mayBeEmptied) return cursor
    if (state.sizeBytes !== offset) return undefined
    truncateSync(this.#path)
    return cursorOf(state, 0)
  }

  async remove(): Promise<void> {
    try {
      unlinkSync(this.#path)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    }
  }
}

function stateOf(path: string): FileState | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat?.isFile() ? { file: identityOf(stat), sizeBytes: stat.size } : undefined
}

/** The time of birth tells a new file from a removed one whose inode it was given. */
const identityOf = ({ dev, ino, birthtimeMs }: Stats): string => `${dev}:${ino}:${Math.trunc(birthtimeMs)}`

const cursorOf = ({ file }: FileState, offset: number): string => `${file}:${offset}`

function offsetIn({ file, sizeBytes }: FileState, cursor: string | undefined): number {
  const at = cursor?.lastIndexOf(':') ?? -1
  const offset = Number(cursor?.slice(at + 1))
  return cursor?.slice(0, at) === file && offset <= sizeBytes ? offset : 0
}

function readAt(path: string, offset: number, length: number): Buffer {
  if (length <= 0) return Buffer.alloc(0)
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const buffer = Buffer.allocUnsafe(length)
    return buffer.subarray(0, readSync(descriptor, buffer, 0, length, offset))
  } finally {
    closeSync(descriptor)
  }
}
