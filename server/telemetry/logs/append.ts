import type { Database } from 'bun:sqlite'
import { decodeChunk, encodeChunk, gramsOf, type StreamKey } from './chunk.ts'
import { FULL_CHUNK_BYTES, noteChunk, type OpenChunks, planChunk } from './compact.ts'
import { cleanMessage, type LogLine, type NewLogLine } from './line.ts'

/** How far an output has been taken in, as its source understands it. */
export interface StoredCursor {
  key: string
  cursor: string
}

export interface Appender {
  append(lines: readonly NewLogLine[], cursors?: readonly StoredCursor[]): LogLine[]
  forgetStreams(): void
  nextSeq(): number
  /** A time after every line stored and after now, in microseconds. */
  endOfTime(nowMs: number): number
}

/** A line may be marked at most this much later than it says, to keep its time apart from others. */
const MAX_SHIFT_US = 1_000_000
/** One append joins about this many small chunks, or twice as many as it writes; what else comes due waits for the next append. */
const MIN_JOINED_CHUNKS = 128
const US_PER_MS = 1000

export function createAppender(db: Database): Appender {
  const statements = prepareStatements(db)
  const streamIds = new Map<string, number>()
  // Only guides when chunks are joined, so it may be behind what retention has removed meanwhile.
  const open = new Map<number, OpenChunks>()
  let { next_seq: nextSeq, last_at: lastAt } = statements.sequence.get() ?? { next_seq: 1, last_at: 0 }

  const streamId = (stream: StreamKey): number => {
    const key = `${stream.resource}\n${stream.type}`
    const known = streamIds.get(key)
    if (known !== undefined) return known
    statements.addStream.run({ ...stream })
    const id = statements.streamId.get({ ...stream })?.id ?? 0
    streamIds.set(key, id)
    return id
  }

  const forgetStreams = () => {
    streamIds.clear()
    open.clear()
  }

  const write = db.transaction((lines: readonly LogLine[], cursors: readonly StoredCursor[]) => {
    const groups = groupByStream(lines)
    let joinable = Math.max(MIN_JOINED_CHUNKS, 2 * groups.size)
    for (const group of groups.values()) {
      const id = streamId(group.stream)
      const chunks = open.get(id) ?? openChunks(statements, id)
      open.set(id, chunks)
      for (const part of partsOf(group.lines)) {
        joinable -= writeChunk(statements, { id, stream: group.stream, lines: part, open: chunks, mayJoin: joinable > 0 })
      }
      writeOrigins(statements, id, group.lines)
    }
    for (const { key, cursor } of cursors) statements.setCursor.run({ key, cursor })
    const last = lines.at(-1)
    if (last !== undefined) statements.setSequence.run({ next: last.seq + 1, at: last.at })
  })

  return {
    append(newLines, cursors = []) {
      let seq = nextSeq
      let at = lastAt
      const lines = newLines.map((line) => {
        at = nextTime(at, line.timestampMs, seq)
        return stamped(line, seq++, at)
      })
      try {
        write.immediate(lines, cursors)
      } catch (error) {
        // The ids may be of streams whose creation has just been rolled back.
        forgetStreams()
        throw error
      }
      nextSeq = seq
      lastAt = at
      return lines
    },
    forgetStreams,
    nextSeq: () => nextSeq,
    endOfTime: (nowMs) => Math.max(nowMs * US_PER_MS, lastAt) + 1,
  }
}

/**
 * The time a line is kept under, in microseconds. Lines of one millisecond are set a microsecond apart, so that a time alone says where a
 * page ends. A clock that was set back by more than a second is believed.
 */
export function nextTime(lastAt: number, timestampMs: number, seq: number): number {
  const at = Math.trunc(timestampMs) * US_PER_MS
  if (at > lastAt) return at
  return lastAt - at < MAX_SHIFT_US ? lastAt + 1 : at + (seq % US_PER_MS)
}

function stamped({ timestampMs: _, ...line }: NewLogLine, seq: number, at: number): LogLine {
  return { ...line, seq, at, message: cleanMessage(line.message) }
}

interface Group {
  stream: StreamKey
  lines: LogLine[]
}

function groupByStream(lines: readonly LogLine[]): Map<string, Group> {
  const groups = new Map<string, Group>()
  for (const line of lines) {
    const key = `${line.resource}\n${line.type}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { stream: { resource: line.resource, type: line.type }, lines: [line] })
    else group.lines.push(line)
  }
  return groups
}

function partsOf(lines: readonly LogLine[]): LogLine[][] {
  const parts: LogLine[][] = []
  let part: LogLine[] = []
  let size = 0
  for (const line of lines) {
    part.push(line)
    size += line.message.length
    if (size < FULL_CHUNK_BYTES) continue
    parts.push(part)
    part = []
    size = 0
  }
  if (part.length > 0) parts.push(part)
  return parts
}

interface Part {
  id: number
  stream: StreamKey
  lines: LogLine[]
  open: OpenChunks
  mayJoin: boolean
}

function writeChunk(statements: Statements, { id, stream, lines, open, mayJoin }: Part): number {
  const size = lines.reduce((sum, line) => sum + line.message.length, 0)
  const plan = planChunk(open, { bytes: size, mayJoin })
  const absorbed = plan.absorbUpTo === undefined ? [] : takeOpen(statements, { stream: id, rank: plan.absorbUpTo })
  const all = [...absorbed.flatMap((row) => decodeChunk(stream, row.header, row.body)), ...lines]
  const chunk = encodeChunk(all)
  statements.addChunk.run({ ...chunk, stream: id, rank: plan.rank, grams: plan.rank === 2 ? gramsOf(all) : null })
  noteChunk(open, plan, size)
  return absorbed.length
}

function takeOpen(statements: Statements, range: { stream: number; rank: number }): { header: Uint8Array; body: Uint8Array }[] {
  const rows = statements.readOpen.all(range)
  if (rows.length > 0) statements.deleteOpen.run(range)
  return rows
}

function openChunks(statements: Statements, stream: number): OpenChunks {
  const open: OpenChunks = { counts: [0, 0], bytes: 0 }
  for (const row of statements.openChunks.all({ stream })) {
    open.counts[row.rank === 0 ? 0 : 1] = row.count
    open.bytes += row.bytes
  }
  return open
}

function writeOrigins(statements: Statements, stream: number, lines: readonly LogLine[]): void {
  const spans = new Map<string, { first: number; last: number }>()
  for (const { instance, at } of lines) {
    const span = spans.get(instance)
    if (span === undefined) spans.set(instance, { first: at, last: at })
    else {
      span.first = Math.min(span.first, at)
      span.last = Math.max(span.last, at)
    }
  }
  for (const [instance, span] of spans) statements.setOrigin.run({ stream, instance, ...span })
}

type Statements = ReturnType<typeof prepareStatements>

function prepareStatements(db: Database) {
  return {
    sequence: db.prepare<{ next_seq: number; last_at: number }, []>('SELECT next_seq, last_at FROM sequence'),
    setSequence: db.prepare('UPDATE sequence SET next_seq = $next, last_at = $at'),
    addStream: db.prepare('INSERT INTO streams (resource, type) VALUES ($resource, $type) ON CONFLICT DO NOTHING'),
    streamId: db.prepare<{ id: number }, Record<string, string>>('SELECT id FROM streams WHERE resource = $resource AND type = $type'),
    openChunks: db.prepare<{ rank: number; count: number; bytes: number }, { stream: number }>(
      'SELECT rank, count(*) AS count, sum(bytes) AS bytes FROM chunks INDEXED BY chunks_open WHERE stream = $stream AND rank < 2 GROUP BY rank',
    ),
    readOpen: db.prepare<{ header: Uint8Array; body: Uint8Array }, { stream: number; rank: number }>(
      'SELECT header, body FROM chunks WHERE stream = $stream AND rank < 2 AND rank <= $rank ORDER BY last_seq',
    ),
    deleteOpen: db.prepare('DELETE FROM chunks WHERE stream = $stream AND rank < 2 AND rank <= $rank'),
    addChunk: db.prepare(
      `INSERT INTO chunks (last_seq, stream, first_seq, min_at, max_at, levels, rank, bytes, grams, header, body)
       VALUES ($lastSeq, $stream, $firstSeq, $minAt, $maxAt, $levels, $rank, $bytes, $grams, $header, $body)`,
    ),
    setOrigin: db.prepare(
      `INSERT INTO origins (stream, instance, first_at, last_at) VALUES ($stream, $instance, $first, $last)
       ON CONFLICT DO UPDATE SET first_at = min(first_at, $first), last_at = max(last_at, $last)`,
    ),
    setCursor: db.prepare('INSERT INTO cursors (source, cursor) VALUES ($key, $cursor) ON CONFLICT DO UPDATE SET cursor = $cursor'),
  }
}
