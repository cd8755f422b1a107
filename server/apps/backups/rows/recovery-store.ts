import type { Database } from 'bun:sqlite'
import { tableOf } from '../../../platform/db/table.ts'

/** What a database that is being recovered is made of. Times are milliseconds since 1970. */
export interface StoredRecovery {
  datastoreId: string
  sourceId: string
  backupId: string
  /** A moment in milliseconds since 1970, `latest`, or `immediate` for what the backup holds. */
  target: string
  createdAt: number
}

const recoveries = tableOf<StoredRecovery>('recoveries', {
  datastoreId: 'datastore_id',
  sourceId: 'source_id',
  backupId: 'backup_id',
  target: 'target',
  createdAt: 'created_at',
})

/** Writes down what a new database is to be made of; belongs in the change that adds it. */
export function insertRecovery(db: Database, recovery: StoredRecovery): void {
  recoveries.insert(db, recovery)
}

/** What a database is made of; undefined for one that is made of nothing, or ready. */
export const recoveryOf = (db: Database, datastoreId: string): StoredRecovery | undefined =>
  recoveries.get(db, 'WHERE datastore_id = $datastoreId', { datastoreId })

/** All that are not finished, oldest first. */
export const allRecoveries = (db: Database): StoredRecovery[] => recoveries.all(db, 'ORDER BY created_at')

/** Whether something is being made of these backups: they stay as long. */
export const isSourceOfRecovery = (db: Database, sourceId: string): boolean =>
  recoveries.get(db, 'WHERE source_id = $sourceId', { sourceId }) !== undefined

/** Forgets how a database was made. */
export function removeRecovery(db: Database, datastoreId: string): void {
  recoveries.remove(db, { datastoreId })
}
