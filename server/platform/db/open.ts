import { Database, SQLiteError } from 'bun:sqlite'
import { chmodSync } from 'node:fs'
import { AppError } from '../../../shared/error.ts'
import { keepPlans } from './stable-plan.ts'

const BUSY_TIMEOUT_MS = 5000
const DB_FILE_MODE = 0o600

/** Opens (or makes) a SQLite database of ours, readable by us alone. @throws AppError unavailable when the file is damaged. */
export function openDatabase(path: string): Database {
  const db = keepPlans(new Database(path, { create: true, strict: true }))
  try {
    // First, so that the switch to WAL waits for another process instead of failing.
    db.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    db.run('PRAGMA journal_mode = WAL')
    db.run('PRAGMA synchronous = NORMAL')
    db.run('PRAGMA foreign_keys = ON')
  } catch (cause) {
    db.close()
    if (!isDamage(cause)) throw cause
    throw new AppError('unavailable', `${path} is damaged (${cause.message}). Move it away with its -wal and -shm, and restore a backup.`, {
      cause,
    })
  }
  chmodSync(path, DB_FILE_MODE)
  return db
}

const isDamage = (error: unknown): error is SQLiteError =>
  error instanceof SQLiteError && (error.code === 'SQLITE_NOTADB' || error.code === 'SQLITE_CORRUPT')

/** Keeps a database for this process alone. The lock that every statement would take and give back costs a third of an API request. */
export function holdExclusively(db: Database): void {
  db.run('PRAGMA locking_mode = EXCLUSIVE')
}
