import type { DatastoreEventType } from '../../../shared/event.ts'
import { type Reader, reasonIn, SERVER_CALM_MS, type Sign } from './sign.ts'

const of =
  (kind: Sign['kind'], topic: string, title: string, rest: Pick<Sign, 'about' | 'calmMs' | 'isEndless'> = {}): Reader =>
  (details) => ({ kind, topic, title, ...rest, ...reasonIn(details) })

const failsOnce = (title: string): Reader => of('bad', 'datastore_work', title, { isEndless: true })

/** What databases and key-value stores have in common, by what stands behind the name of their kind. */
const commonReaders = (noun: string) => ({
  available: of('good', 'datastore', `${noun} is available again`, { calmMs: SERVER_CALM_MS }),
  unavailable: of('bad', 'datastore', `${noun} is unavailable`),
  nearlyFull: of('bad', 'datastore_disk', `Disk of the ${noun.toLowerCase()} is nearly full`, { about: 'nearly_full' }),
  full: of('bad', 'datastore_disk', `${noun} is read-only: its disk is full`, { about: 'full' }),
  writable: of('good', 'datastore_disk', `${noun} has room on its disk again`),
  backupFailed: of('bad', 'datastore_backup', `No backup of the ${noun.toLowerCase()}`),
  backupDone: of('good', 'datastore_backup', `There are backups again of the ${noun.toLowerCase()}`),
  backupDamaged: of('bad', 'datastore_verified', `A backup of the ${noun.toLowerCase()} is damaged`),
  backupVerified: of('good', 'datastore_verified', `Backups of the ${noun.toLowerCase()} are whole again`),
  copyFailed: of('bad', 'datastore_copy', `Backups of the ${noun.toLowerCase()} do not come to the bucket`),
  copyResumed: of('good', 'datastore_copy', `Backups of the ${noun.toLowerCase()} are at the bucket again`),
  restoreFailed: failsOnce(`Could not restore the ${noun.toLowerCase()}`),
})

const postgres = commonReaders('Database')
const keyValue = commonReaders('Key-value store')

export const datastoreReaders: Partial<Record<DatastoreEventType, Reader>> = {
  postgres_available: postgres.available,
  postgres_unavailable: postgres.unavailable,
  postgres_disk_nearly_full: postgres.nearlyFull,
  postgres_disk_full: postgres.full,
  postgres_disk_writable: postgres.writable,
  postgres_disk_resize_failed: of('bad', 'datastore_resize', 'Could not grow the disk of the database'),
  postgres_disk_size_changed: of('good', 'datastore_resize', 'Grown is the disk of the database'),
  postgres_backup_failed: postgres.backupFailed,
  postgres_backup_completed: postgres.backupDone,
  postgres_backup_damaged: postgres.backupDamaged,
  postgres_backup_verified: postgres.backupVerified,
  postgres_wal_archive_failed: of('bad', 'datastore_wal', 'Changes of the database are not backed up'),
  postgres_wal_archive_resumed: of('good', 'datastore_wal', 'Changes of the database are backed up again'),
  postgres_backup_copy_failed: postgres.copyFailed,
  postgres_backup_copy_resumed: postgres.copyResumed,
  postgres_failover_failed: failsOnce('The standby could not take the place of the database'),
  postgres_restore_failed: postgres.restoreFailed,
  postgres_upgrade_failed: failsOnce('Could not upgrade the database'),
  postgres_parameters_reverted: failsOnce('Parameters of the database were taken back'),
  postgres_read_replica_stale: failsOnce('Read replica is stale'),
  key_value_available: keyValue.available,
  key_value_unhealthy: keyValue.unavailable,
  key_value_disk_nearly_full: keyValue.nearlyFull,
  key_value_disk_full: keyValue.full,
  key_value_disk_writable: keyValue.writable,
  key_value_backup_failed: keyValue.backupFailed,
  key_value_backup_completed: keyValue.backupDone,
  key_value_backup_damaged: keyValue.backupDamaged,
  key_value_backup_verified: keyValue.backupVerified,
  key_value_backup_copy_failed: keyValue.copyFailed,
  key_value_backup_copy_resumed: keyValue.copyResumed,
  key_value_restore_failed: keyValue.restoreFailed,
}
