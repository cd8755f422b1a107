import type { Database } from 'bun:sqlite'
import { describeError, type ServerLog } from '../../platform/server-log.ts'
import { type StoredKey, setLastUsed } from '../api-keys/store.ts'

export const USE_INTERVAL_MS = 60_000

export interface UseRecorder {
  note(key: Pick<StoredKey, 'id' | 'lastUsedAt'>, now: number): void
}

export function createUseRecorder({ db, log }: { db: Database; log: ServerLog }): UseRecorder {
  const waiting = new Map<string, number>()
  const write = () => {
    const uses = [...waiting]
    waiting.clear()
    try {
      db.transaction(() => {
        for (const [id, at] of uses) setLastUsed(db, id, at)
      })()
    } catch (error) {
      // A full disk must not cost anybody a read; the next use is written instead.
      log.error('use of a key not noted', describeError(error))
    }
  }
  return {
    note({ id, lastUsedAt }, now) {
      if (lastUsedAt !== null && now - lastUsedAt < USE_INTERVAL_MS) return
      if (waiting.size === 0) setImmediate(write)
      waiting.set(id, now)
    },
  }
}
