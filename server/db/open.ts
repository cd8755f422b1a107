import { Database } from 'bun:sqlite'
import { chmodSync } from 'node:fs'

const BUSY_TIMEOUT_MS = 5000
const DB_FILE_MODE = 0o600

/** Opens (or makes) a SQLite database of ours: WAL, foreign keys enforced, named parameters checked, file readable by us alone. */
export function openDatabase(path: string): Database {
  const db = new Database(path, { create: true, strict: true })
  // First, so that the switch to WAL waits for another process instead of failing.
  db.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  db.run('PRAGMA journal_mode = WAL')
  db.run('PRAGMA synchronous = NORMAL')
  db.run('PRAGMA foreign_keys = ON')
  chmodSync(path, DB_FILE_MODE)
  return db
}

/**
 * Keeps a database for this process alone from its next statement on. The file lock that every statement would take and give
 * back costs a third of an API request; `cpd` is alone on its data directory anyway.
 */
export function holdExclusively(db: Database): void {
  db.run('PRAGMA locking_mode = EXCLUSIVE')
}
