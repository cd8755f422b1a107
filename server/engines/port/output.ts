/**
 * What workloads write, by the name that their specs give it: one stream of bytes for all that is started under the name. Engines keep it
 * beyond the end of what wrote it, until it is removed. Once a workload is told to have ended, all that it wrote can be read: the
 * read that leaves nothing unread was the last.
 */

export interface OutputName {
  ownerId: string
  /** The owner's alone, and no path. */
  name: string
}

/** How far an output was read. Only its engine can read it; it survives restarts of the engine and of whoever keeps it. */
export type Cursor = string

export interface OutputRequest {
  /** Absent: from what is kept first. */
  after?: Cursor
  /** May be 0, to ask how much there is. */
  maxBytes: number
  /** Where more than this is unread, what is older is skipped. */
  newestBytes?: number
}

export interface OutputPart {
  bytes: Uint8Array
  /** How far the output is read when only so many of `bytes` are taken. */
  cursorAt(count: number): Cursor
  skippedBytes: number
  unreadBytes: number
  /** Before `bytes` something is missing for good that was never read: the engine could not keep it for so long. */
  hasGap?: true
}

export interface OpenOutput {
  /** Whether something may have come since the last read. Asked ten times a second for hundreds of outputs: it costs next to nothing. */
  hasNew(): boolean

  /** What is there, without waiting; undefined when nothing was ever written. @throws when it cannot be read now; `hasNew` says when to try again. */
  read(request: OutputRequest): Promise<OutputPart | undefined>

  /**
   * Gives back the space of everything before a cursor, which nobody will read again. Returns the cursor to go on from, which may be another
   * one, or undefined when nothing could be given back yet.
   */
  release(cursor: Cursor): Promise<Cursor | undefined>

  /** Forgets the output; what is written under its name afterwards is another one. Idempotent. */
  remove(): Promise<void>
}

export interface Outputs {
  /** An output to be read, whether or not anything was written yet. */
  open(output: OutputName): OpenOutput

  /** Names of all outputs of an owner that are kept. */
  list(ownerId: string): Promise<string[]>
}
