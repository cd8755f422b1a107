import type { Database } from 'bun:sqlite'

export interface Retention {
  maxAgeDays: number
  /** Of the text of one service's lines; on disk they take about a fifth of it. */
  maxBytesPerService: number
}

const DAY_US = 24 * 60 * 60 * 1_000_000
/** A step deletes this many chunks (about 100 KB of text each) and then lets other work run: a few milliseconds. */
const CHUNKS_PER_STEP = 32
/** Pages of 4 KB handed back to the file system in one step. */
const PAGES_PER_STEP = 512

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

/** Removes every line of a service, in small steps. `onStreamsGone` is called as soon as ids of streams are no longer valid. */
export async function removeLogs(db: Database, resource: string, onStreamsGone: () => void): Promise<void> {
  await repeat(() => deleteOld(db, resource, Number.MAX_SAFE_INTEGER))
  db.transaction(() => {
    // A line may have arrived since the last step; it stays, and so does its stream.
    const gone = 'SELECT id FROM streams WHERE resource = ? AND NOT EXISTS (SELECT 1 FROM chunks WHERE stream = streams.id)'
    db.run(`DELETE FROM origins WHERE stream IN (${gone})`, [resource])
    db.run(`DELETE FROM streams WHERE id IN (${gone})`, [resource])
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

const deleteOld = (db: Database, resource: string, before: number): number =>
  db
    .query<null, Record<string, string | number>>(
      `DELETE FROM chunks WHERE last_seq IN (SELECT last_seq FROM chunks WHERE ${ofResource} AND max_at < $before LIMIT $count)`,
    )
    .run({ resource, before, count: CHUNKS_PER_STEP }).changes

function deleteExcess(db: Database, resource: string, maxBytes: number): number {
  const held = db
    .query<{ bytes: number }, { resource: string }>(
      `SELECT coalesce(sum(bytes), 0) AS bytes FROM chunks INDEXED BY chunks_backward WHERE ${ofResource}`,
    )
    .get({ resource })
  let excess = (held?.bytes ?? 0) - maxBytes
  if (excess <= 0) return 0
  const oldest = db
    .query<{ last_seq: number; bytes: number }, Record<string, string | number>>(
      `SELECT last_seq, bytes FROM chunks WHERE ${ofResource} ORDER BY max_at, last_seq LIMIT $count`,
    )
    .all({ resource, count: CHUNKS_PER_STEP })
  const doomed: number[] = []
  for (const chunk of oldest) {
    if (excess <= 0) break
    doomed.push(chunk.last_seq)
    excess -= chunk.bytes
  }
  return db.run('DELETE FROM chunks WHERE last_seq IN (SELECT value FROM json_each(?))', [JSON.stringify(doomed)]).changes
}

function releasePages(db: Database): number {
  const free = () => db.query<{ freelist_count: number }, []>('PRAGMA freelist_count').get()?.freelist_count ?? 0
  const before = free()
  if (before === 0) return 0
  db.run(`PRAGMA incremental_vacuum(${PAGES_PER_STEP})`)
  return before - free()
}
