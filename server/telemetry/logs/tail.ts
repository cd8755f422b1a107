import type { Cursor, OpenOutput, OutputPart } from '../../engines/port/output.ts'
import type { NewLogLine } from './line.ts'
import { type Allowance, fullAllowance, keptBytes, type LogRate, maxUnread, readableBytes, refilled, spent } from './rate.ts'
import { splitLines } from './split.ts'

export interface Followed {
  /** Names it among all that are followed, and how far it was read in the store. */
  key: string
  source: Pick<OpenOutput, 'hasNew' | 'read' | 'release' | 'remove'>
  /** Undefined for what is not to be kept. */
  lineOf(message: string, now: number): NewLogLine | undefined
  /** Absent: everything is kept. */
  rate?: LogRate | undefined
}

/** What is being followed. `cursor` only ever changes together with what is stored. */
export interface Tail {
  followed: Followed
  cursor: Cursor | undefined
  /** To be read at the next poll, whether or not something new has come. */
  isBehind: boolean
  unreleasedBytes: number
  allowance: Allowance | undefined
  leftOut: LeftOut
}

export interface LeftOut {
  bytes: number
  reportedAt: number
}

export interface TailLimits {
  maxLineBytes: number
  /** The most that may be unread; beyond it the oldest part is skipped, and a line says so. */
  maxUnreadBytes: number
}

export interface TailStep {
  tail: Tail
  /** Where it begins. It can be stored only while the tail still stands there. */
  from: Cursor | undefined
  lines: NewLogLine[]
  cursor: Cursor
  takenBytes: number
  /** What was not read when the step began. */
  unreadBytes: number
  hasMore: boolean
  allowance: Allowance | undefined
  leftOut: LeftOut
}

export const RELEASE_BYTES = 16 * 1024 * 1024

export function startTail(followed: Followed, cursor: Cursor | undefined): Tail {
  return {
    followed,
    cursor,
    isBehind: false,
    // How much of it an earlier control plane has given back is not known.
    unreleasedBytes: cursor === undefined ? 0 : RELEASE_BYTES,
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

/** Reads the next lines, at most about 256 KB. Undefined when there is nothing new, or nothing more may be read yet. */
export async function readTail(tail: Tail, limits: TailLimits, options: ReadOptions): Promise<TailStep | undefined> {
  tail.isBehind = false
  const { followed, cursor: from } = tail
  const allowance = allowanceOf(tail, options.now)
  const readable = allowance === undefined || options.isDrain ? STEP_BYTES : Math.min(STEP_BYTES, readableBytes(allowance))
  const maxBytes = readable <= 0 ? 0 : Math.max(readable, limits.maxLineBytes * 2)
  const part = await followed.source.read({ ...after(from), maxBytes })
  if (part === undefined) return undefined
  const unreadBytes = part.bytes.length + part.unreadBytes
  const base = { tail, from, unreadBytes }
  const excess = excessOf(unreadBytes, { allowance, limits, rate: followed.rate })
  if (excess !== undefined) return await leaveOut(base, { allowance, limits, now: options.now, excess })
  if (maxBytes === 0) tail.isBehind = unreadBytes > 0
  const { messages, consumedBytes } = splitLines(bufferOf(part), {
    maxLineBytes: limits.maxLineBytes,
    isFinal: options.isFinal && part.unreadBytes === 0,
  })
  if (consumedBytes === 0) return undefined
  return {
    ...base,
    lines: [...(part.hasGap ? [GAP] : []), ...messages].flatMap((message) => followed.lineOf(message, options.now) ?? []),
    cursor: part.cursorAt(consumedBytes),
    takenBytes: consumedBytes,
    hasMore: part.unreadBytes > 0,
    allowance: allowance && spent(allowance, { lines: messages.length, bytes: consumedBytes }),
    leftOut: tail.leftOut,
  }
}

const GAP = 'Some output before this is missing: it was gone before it could be stored.'

const after = (cursor: Cursor | undefined): { after?: Cursor } => (cursor === undefined ? {} : { after: cursor })

const bufferOf = ({ bytes }: OutputPart): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

function allowanceOf({ followed: { rate }, allowance }: Tail, now: number): Allowance | undefined {
  if (rate === undefined) return undefined
  return allowance === undefined ? fullAllowance(rate, now) : refilled(allowance, rate, now)
}

interface Excess {
  keepBytes: number
  because: string
}

interface Bounds {
  allowance: Allowance | undefined
  limits: TailLimits
  rate: LogRate | undefined
}

function excessOf(unread: number, { allowance, limits: { maxUnreadBytes }, rate }: Bounds): Excess | undefined {
  if (allowance !== undefined && rate !== undefined && unread > maxUnread(allowance, rate)) {
    const because = `Output came faster than ${rate.linesPerSecond} lines or ${Math.round(rate.bytesPerSecond / 1024)} KB a second, which is what is kept`
    return { keepBytes: Math.min(keptBytes(allowance, rate), maxUnreadBytes), because }
  }
  if (unread <= maxUnreadBytes) return undefined
  return { keepBytes: Math.floor(maxUnreadBytes / 2), because: 'Output came faster than it could be stored' }
}

interface LeavingOut {
  allowance: Allowance | undefined
  limits: TailLimits
  now: number
  excess: Excess
}

const LEFT_OUT = 'were left out here.'

/** Whether a line says that some were left out. The next one may have lost its beginning. */
export const isLeftOut = (message: string): boolean => message.endsWith(LEFT_OUT)

const NEWLINE = 10
const REPORT_EVERY_MS = 1000

/** Skips the oldest part, and says so in a line, together with what was skipped since the last such line. */
async function leaveOut(
  base: Pick<TailStep, 'tail' | 'from' | 'unreadBytes'>,
  { allowance, limits, now, excess }: LeavingOut,
): Promise<TailStep | undefined> {
  const { tail, from } = base
  const { source, lineOf } = tail.followed
  const part = await source.read({ ...after(from), maxBytes: limits.maxLineBytes, newestBytes: excess.keepBytes })
  if (part === undefined) return undefined
  const takenBytes = part.bytes.indexOf(NEWLINE) + 1
  const bytes = tail.leftOut.bytes + part.skippedBytes + takenBytes
  const isReported = allowance === undefined || now - tail.leftOut.reportedAt >= REPORT_EVERY_MS
  const lines = Math.round(bytes / (allowance?.lineBytes ?? Number.POSITIVE_INFINITY))
  const about = lines > 0 ? ` (about ${lines} lines)` : ''
  const reports = [...(part.hasGap ? [GAP] : []), ...(isReported ? [`${excess.because}: ${bytes} bytes${about} ${LEFT_OUT}`] : [])]
  return {
    ...base,
    lines: reports.flatMap((report) => lineOf(report, now) ?? []),
    cursor: part.cursorAt(takenBytes),
    takenBytes: part.skippedBytes + takenBytes,
    hasMore: true,
    allowance,
    leftOut: isReported ? { bytes: 0, reportedAt: now } : { ...tail.leftOut, bytes },
  }
}

export function commitTail({ tail, cursor, takenBytes, allowance, leftOut }: TailStep): void {
  tail.cursor = cursor
  tail.unreleasedBytes += takenBytes
  tail.allowance = allowance
  tail.leftOut = leftOut
}
