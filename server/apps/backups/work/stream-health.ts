import type { AppContext } from '../../context.ts'
import { datastoreById, type StoredDatastore } from '../../datastores/store.ts'
import { backupSetOf, updateBackupSet } from '../rows/set-store.ts'
import { recordBackupEvent } from './events.ts'

const TOLD_AFTER_MS = 60_000

const parts = ['streamed', 'stored'] as const
export type LogPart = (typeof parts)[number]

export interface StreamHealth {
  sound(id: string, part: LogPart): void
  /** Nothing is to be streamed: a database that is suspended has no problem. */
  idle(id: string): void
  failed(datastore: StoredDatastore, part: LogPart, reason: string): 'first' | 'again'
}

/** A restart of the database ends its stream too: only what lasts is told. */
export function createStreamHealth({ db, now }: Pick<AppContext, 'db' | 'now'>): StreamHealth {
  const failingSince = new Map<string, number>()
  const keyOf = (id: string, part: LogPart): string => `${id} ${part}`
  return {
    sound(id, part) {
      const wasFailing = failingSince.delete(keyOf(id, part))
      // That there is nothing to store says nothing of the stream.
      if (part === 'stored' && !wasFailing) return
      if (parts.some((one) => failingSince.has(keyOf(id, one)))) return
      const set = backupSetOf(db, id)
      if (set?.problem == null) return
      db.transaction(() => {
        updateBackupSet(db, id, { problem: null })
        recordBackupEvent({ db, now }, set, 'logResumed', {})
      })()
    },
    idle: (id) => void failingSince.delete(keyOf(id, 'streamed')),
    failed({ id, kind, workspaceId, name }, part, reason) {
      const known = failingSince.get(keyOf(id, part))
      const since = known ?? now()
      const count = known === undefined ? 'first' : 'again'
      failingSince.set(keyOf(id, part), since)
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
