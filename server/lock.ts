import { Database } from 'bun:sqlite'
import { AppError } from '../shared/error.ts'

/** Held for as long as the process lives; the kernel lets go of it however the process ends. */
export interface DataLock {
  release(): void
}

/**
 * Takes the data directory for this process alone: an exclusive SQLite transaction on a file of its own, which is a lock of
 * the kernel underneath and needs no clean-up after a crash.
 *
 * @throws AppError unavailable when another process holds it.
 */
export function lockDataDir(lockFile: string, dataDir: string): DataLock {
  const db = new Database(lockFile, { create: true })
  try {
    db.run('PRAGMA locking_mode = EXCLUSIVE')
    db.run('BEGIN EXCLUSIVE')
  } catch (cause) {
    db.close()
    throw new AppError('unavailable', `Another cpd already runs on ${dataDir}. Stop it first, or give this one another --data.`, { cause })
  }
  return { release: () => db.close() }
}
