import { Database } from 'bun:sqlite'
import { getDatabaseVersion, getMaximumVersion, type Migration, migrate } from 'bun-sqlite-migrations'
import { AppError } from '../../../shared/error.ts'
import { handBackPages } from '../../platform/db/free-pages.ts'
import { openDatabase } from '../../platform/db/open.ts'
import { keepPlans } from '../../platform/db/stable-plan.ts'
import initial from './migrations/0001_initial.sql' with { type: 'text' }
import cursors from './migrations/0002_cursors.sql' with { type: 'text' }

const CACHE_KB = 8000

const migrations: Migration[] = [
  { version: 1, up: [initial], down: '' },
  { version: 2, up: [cursors], down: '' },
]

/** Opens (or makes) the log database, a file of its own so that a flood of lines holds up no request. @throws AppError `unavailable` when it is newer. */
export function openLogDatabase(path: string): Database {
  const db = openDatabase(path)
  const held = getDatabaseVersion(db)
  const known = getMaximumVersion(migrations)
  if (held > known) {
    db.close()
    throw new AppError(
      'unavailable',
      `The log database is of version ${held}, this executable knows only version ${known}. Start the newer executable, or move the file away to begin with empty logs.`,
    )
  }
  // Without room for the open chunks of some hundred services, they are read again for every line.
  db.run(`PRAGMA cache_size = -${CACHE_KB}`)
  if (held === 0) handBackPages(db)
  migrate(db, migrations)
  return db
}

export function openLogReader(path: string): Database {
  const db = keepPlans(new Database(path, { readonly: true, strict: true }))
  db.run('PRAGMA busy_timeout = 5000')
  return db
}
