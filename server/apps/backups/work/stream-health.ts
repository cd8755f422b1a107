import type { AppContext } from '../../context.ts'
import { datastoreById, type StoredDatastore } from '../../datastores/store.ts'
import { backupSetOf, updateBackupSet } from '../rows/set-store.ts'
import { recordBackupEvent } from './events.ts'

const TOLD_AFTER_MS = 60_000

export interface StreamHealth {
  sound(id: string): void
  /** Nothing is to be streamed: a database that is suspended has no problem. */
  idle(id: string): void
  failed(datastore: StoredDatastore, reason: string): 'first' | 'again'
}

/** A restart of the database ends its stream too: only what lasts is told. */
export function createStreamHealth({ db, now }: Pick<AppContext, 'db' | 'now'>): StreamHealth {
  const failingSince = new Map<string, number>()
  return {
    sound(id) {
      failingSince.delete(id)
      const set = backupSetOf(db, id)
      if (set?.problem == null) return
      db.transaction(() => {
        updateBackupSet(db, id, { problem: null })
        recordBackupEvent({ db, now }, set, 'logResumed', {})
      })()
    },
    idle: (id) => void failingSince.delete(id),
    failed({ id, kind, workspaceId, name }, reason) {
      const known = failingSince.get(id)
      const since = known ?? now()
      const count = known === undefined ? 'first' : 'again'
      failingSince.set(id, since)
      const isTold = backupSetOf(db, id)?.problem != null
      if (isTold || now() - since < TOLD_AFTER_MS || datastoreById(db, id)?.phase !== 'ready') return count
      db.transaction(() => {
        updateBackupSet(db, id, { problem: reason })
        recordBackupEvent({ db, now }, { datastoreId: id, kind, workspaceId, name }, 'logFailed', { reason })
      })()
      return count
    },
  }
}
