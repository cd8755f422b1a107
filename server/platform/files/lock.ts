import { Database, SQLiteError } from 'bun:sqlite'
import { AppError, messageOf } from '../../../shared/error.ts'

export interface DataLock {
  release(): void
}

/** Takes the data directory for this process alone, by a lock of the kernel. @throws AppError `unavailable` when somebody holds it. */
export function lockDataDir(lockFile: string, dataDir: string): DataLock {
  let db: Database | undefined
  try {
    db = new Database(lockFile, { create: true })
    db.run('PRAGMA locking_mode = EXCLUSIVE')
    db.run('BEGIN EXCLUSIVE')
    const held = db
    return { release: () => held.close() }
  } catch (cause) {
    db?.close()
    throw new AppError('unavailable', reasonOf(cause, lockFile, dataDir), { cause })
  }
}

function reasonOf(cause: unknown, lockFile: string, dataDir: string): string {
  if (cause instanceof SQLiteError && cause.code === 'SQLITE_BUSY') {
    return `Another cpd already runs on ${dataDir}. End it first with Ctrl-C or SIGTERM, or give this one another --data.`
  }
  const words = messageOf(cause)
  return `The lock ${lockFile} can't be taken (${words}). See that there is room on the disk and that the folder can be written.`
}
