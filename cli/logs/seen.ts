import type { Log } from '../../shared/log.ts'

/** Milliseconds before the newest line at which a new connection begins: lines of different sources may come a little out of order. */
export const OVERLAP_MS = 10_000

/** Remembers which lines have come, so that reading them again from a little earlier repeats none and misses none. */
export interface Seen {
  isNew(log: Log): boolean
  resumeTime(): string
}

/** @param startTime Where reading begins before any line has come. */
export function createSeen(startTime: string): Seen {
  const ids = new Map<string, number>()
  let newestMs = Number.NEGATIVE_INFINITY
  return {
    isNew(log) {
      if (ids.has(log.id)) return false
      const atMs = Date.parse(log.timestamp)
      ids.set(log.id, atMs)
      if (atMs > newestMs) {
        newestMs = atMs
        forget(ids, newestMs - 2 * OVERLAP_MS)
      }
      return true
    },
    resumeTime() {
      const startMs = Date.parse(startTime)
      return newestMs - OVERLAP_MS > startMs ? new Date(newestMs - OVERLAP_MS).toISOString() : startTime
    },
  }
}

/** Drops the oldest ids, which came first, up to one that may still be sent again. */
function forget(ids: Map<string, number>, beforeMs: number): void {
  for (const [id, atMs] of ids) {
    if (atMs >= beforeMs) return
    ids.delete(id)
  }
}
