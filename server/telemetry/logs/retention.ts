import type { Database } from 'bun:sqlite'
import type { LogType } from '../../../shared/log.ts'
import { releasePages } from '../../platform/db/free-pages.ts'
import { excessIn } from './shares.ts'

export interface Retention {
  maxAgeDays: number
  /** Bytes of the text of one service's lines, of which each type has its share; on disk they take about a fifth of it. */
  maxBytesPerService: number
}

const DAY_US = 24 * 60 * 60 * 1_000_000
/** A step deletes this many chunks (about 100 KB of text each) and then lets other work run: a few milliseconds. */
const CHUNKS_PER_STEP = 32

/** Removes what is too old or too much, oldest first and in small steps. Returns how many chunks of lines went. */
export async function pruneLogs(db: Database, retention: Retention, now: number): Promise<number> {
  const before = now * 1000 - retention.maxAgeDays * DAY_US
  let removed = 0
  for (const resource of resources(db)) {
    removed += await repeat(() => deleteOld(db, resource, before))
    removed += await repeat(() => deleteExcess(db, resource, retention.maxBytesPerService))
  }
  await repeat(() => db.run('DELETE FROM origins WHERE last_at < ? LIMIT 1000', [before]).changes)
  await repeat(() => releasePages(db))
  return removed
}

export async function removeLogs(db: Database, resource: string, onStreamsGone: () => void): Promise<void> {
  await repeat(() => deleteOld(db, resource, Number.MAX_SAFE_INTEGER))
  db.transaction(() => {
    // A line may have arrived since the last step; it stays, and so does its stream.
    const gone = 'SELECT id FROM streams WHERE resource = ? AND NOT EXISTS (SELECT 1 FROM chunks WHERE stream = streams.id)'
    db.run(`DELETE FROM origins WHERE stream IN (${gone})`, [resource])
    db.run(`DELETE FROM streams WHERE id IN (${gone})`, [resource])
    db.run("DELETE FROM cursors WHERE source GLOB ? || '/*'", [resource])
  }).immediate()
  onStreamsGone()
  await repeat(() => releasePages(db))
}

async function repeat(step: () => number): Promise<number> {
  let total = 0
  for (let count = step(); count > 0; count = step()) {
    total += count
    await new Promise((resolve) => setImmediate(resolve))
  }
  return total
}

const resources = (db: Database): string[] =>
  db
    .query<{ resource: string }, []>('SELECT DISTINCT resource FROM streams')
    .all()
    .map((row) => row.resource)

const ofResource = 'stream IN (SELECT id FROM streams WHERE resource = $resource)'
const ofType = 'stream = (SELECT id FROM streams WHERE resource = $resource AND type = $type)'

interface DoomedChunk {
  last_seq: number
  stream: number
  bytes: number
}

const oldestSql = (streams: string) =>
  `SELECT last_seq, stream, bytes FROM chunks WHERE ${streams} AND max_at < $before ORDER BY max_at, last_seq LIMIT $count`

function deleteOld(db: Database, resource: string, before: number): number {
  const query = db.query<DoomedChunk, Record<string, string | number>>(oldestSql(ofResource))
  return deleteChunks(db, query.all({ resource, before, count: CHUNKS_PER_STEP }))
}

function deleteExcess(db: Database, resource: string, maxBytes: number): number {
  const excess = excessIn(heldOf(db, resource), maxBytes)
  if (excess === undefined) return 0
  const query = db.query<DoomedChunk, Record<string, string | number>>(oldestSql(ofType))
  const doomed: DoomedChunk[] = []
  let left = excess.bytes
  for (const chunk of query.all({ resource, type: excess.type, before: Number.MAX_SAFE_INTEGER, count: CHUNKS_PER_STEP })) {
    if (left <= 0) break
    doomed.push(chunk)
    left -= chunk.bytes
  }
  return deleteChunks(db, doomed)
}

function heldOf(db: Database, resource: string): Record<LogType, number> {
  const rows = db
    .query<{ type: LogType; bytes: number }, { resource: string }>(
      `SELECT type, coalesce(sum(bytes), 0) AS bytes FROM streams JOIN chunks INDEXED BY chunks_backward ON stream = streams.id
       WHERE resource = $resource GROUP BY type`,
    )
    .all({ resource })
  return { app: 0, request: 0, build: 0, platform: 0, ...Object.fromEntries(rows.map(({ type, bytes }) => [type, bytes])) }
}

function deleteChunks(db: Database, doomed: readonly DoomedChunk[]): number {
  if (doomed.length === 0) return 0
  db.transaction(() => {
    const note = db.query<null, [number, number]>('UPDATE streams SET pruned_seq = max(pruned_seq, ?) WHERE id = ?')
    for (const chunk of doomed) note.run(chunk.last_seq, chunk.stream)
    db.run('DELETE FROM chunks WHERE last_seq IN (SELECT value FROM json_each(?))', [JSON.stringify(doomed.map((chunk) => chunk.last_seq))])
  }).immediate()
  return doomed.length
}
