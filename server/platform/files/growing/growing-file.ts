import { closeSync, constants, openSync, readSync, type Stats, statSync, truncateSync, unlinkSync } from 'node:fs'
import { releaseRange } from './release-range.ts'

/** Five seconds for who looks ten times a second. */
const QUIET_AFTER_LOOKS = 50
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

type FileState = Pick<Stats, 'dev' | 'ino' | 'birthtimeMs' | 'size'>

let made = 0

/** A cursor names a file and an offset in it: a file that is another one, or has become shorter, is read from its start. */
export class GrowingFile {
  readonly #path: string
  readonly #options: GrowingFileOptions
  #seen: FileState | undefined
  #identity = ''
  #looksInVain = 0
  /** Files differ in the number they begin with, so that each question about all of them looks at a part of the quiet ones. */
  #questions = made++
  #isReleasable = true

  constructor(path: string, options: GrowingFileOptions) {
    this.#path = path
    this.#options = options
  }

  /** Whether there is something that the last read has not seen. A file that was quiet for a while is looked at once in five times. */
  hasNew(): boolean {
    this.#questions++
    if (this.#looksInVain >= QUIET_AFTER_LOOKS && this.#questions % QUIET_PARTS !== 0) return false
    const state = stateOf(this.#path)
    if (state === undefined) return false
    const isNew = this.#seen === undefined || state.size !== this.#seen.size || !isSameFile(state, this.#seen)
    this.#looksInVain = isNew ? 0 : this.#looksInVain + 1
    return isNew
  }

  /** What stands after a cursor, or from the start; with `newestBytes` only what is that near to the end. Undefined where there is no file. */
  async read({ after, maxBytes, newestBytes = Number.POSITIVE_INFINITY }: Reading) {
    const state = stateOf(this.#path)
    if (state === undefined) return undefined
    if (this.#seen === undefined || !isSameFile(state, this.#seen)) this.#identity = identityOf(state)
    this.#seen = state
    const identity = this.#identity
    const start = offsetIn(identity, state.size, after)
    const from = Math.max(start, state.size - newestBytes)
    const bytes = readAt(this.#path, from, Math.min(maxBytes, state.size - from))
    return {
      bytes,
      skippedBytes: from - start,
      unreadBytes: state.size - from - bytes.length,
      cursorAt: (count: number) => cursorOf(identity, from + count),
    }
  }

  /** Gives the space before a cursor back to the file system. Returns the cursor to go on from; undefined when nothing went. */
  async release(cursor: string): Promise<string | undefined> {
    const { mayBeEmptied, releaseSpace = releaseRange } = this.#options
    const state = stateOf(this.#path)
    if (state === undefined) return cursor
    const identity = identityOf(state)
    const offset = offsetIn(identity, state.size, cursor)
    if (offset === 0) return cursor
    this.#isReleasable &&= releaseSpace(this.#path, 0, offset)
    if (this.#isReleasable || !mayBeEmptied) return cursor
    if (state.size !== offset) return undefined
    truncateSync(this.#path)
    return cursorOf(identity, 0)
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
  return stat?.isFile() ? stat : undefined
}

const isSameFile = (one: FileState, other: FileState): boolean =>
  one.ino === other.ino && one.birthtimeMs === other.birthtimeMs && one.dev === other.dev

/** The time of birth tells a new file from a removed one whose inode it was given. */
const identityOf = ({ dev, ino, birthtimeMs }: FileState): string => `${dev}:${ino}:${Math.trunc(birthtimeMs)}`

const cursorOf = (identity: string, offset: number): string => `${identity}:${offset}`

function offsetIn(identity: string, size: number, cursor: string | undefined): number {
  if (cursor?.lastIndexOf(':') !== identity.length || !cursor.startsWith(identity)) return 0
  const offset = Number(cursor.slice(identity.length + 1))
  return offset <= size ? offset : 0
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
