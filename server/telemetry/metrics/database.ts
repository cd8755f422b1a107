import { type Database, SQLiteError } from 'bun:sqlite'
import { renameSync, rmSync } from 'node:fs'
import { getDatabaseVersion, getMaximumVersion, type Migration, migrate } from 'bun-sqlite-migrations'
import { AppError } from '../../../shared/error.ts'
import { handBackPages } from '../../platform/db/free-pages.ts'
import { openDatabase } from '../../platform/db/open.ts'
import { describeError, type ServerLog } from '../../platform/server-log.ts'
import initial from './migrations/0001_initial.sql' with { type: 'text' }
import disks from './migrations/0002_disks.sql' with { type: 'text' }
import datastores from './migrations/0003_datastores.sql' with { type: 'text' }

const migrations: Migration[] = [
  { version: 1, up: [initial], down: '' },
  { version: 2, up: [disks], down: '' },
  { version: 3, up: [datastores], down: '' },
]

export interface Opened {
  db: Database
  seriesIds: Map<string, number>
}

/** Samples are the last thing a machine in trouble needs: a file that cannot be opened is tried again each time, and a damaged one set aside. */
export interface MetricsDatabase {
  /** @throws AppError `unavailable` when there is no database now, and whatever `work` throws. */
  use<T>(work: (opened: Opened) => T): T
  close(): void
}

export function openMetricsDatabase(path: string, log: ServerLog): MetricsDatabase {
  let opened: Opened | undefined
  const close = () => {
    opened?.db.close()
    opened = undefined
  }
  return {
    use(work) {
      try {
        opened ??= open(path)
        return work(opened)
      } catch (error) {
        if (!isDamage(error)) throw error
        close()
        setAside(path)
        log.error('metrics set aside', { path: asidePath(path), ...describeError(error) })
        throw new AppError('unavailable', 'The metrics were damaged and begin anew. Try again.', { cause: error })
      }
    },
    close,
  }
}

function open(path: string): Opened {
  const db = openDatabase(path)
  try {
    const held = getDatabaseVersion(db)
    if (held > getMaximumVersion(migrations)) {
      throw new AppError('unavailable', `The metrics are of a newer version (${held}): they can be read again when that executable runs.`)
    }
    if (held === 0) handBackPages(db)
    migrate(db, migrations)
  } catch (error) {
    db.close()
    throw error
  }
  return { db, seriesIds: new Map() }
}

const asidePath = (path: string): string => `${path}.damaged`

function setAside(path: string): void {
  for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true })
  renameSync(path, asidePath(path))
}

function isDamage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof SQLiteError) return error.code === 'SQLITE_NOTADB' || (error.code ?? '').startsWith('SQLITE_CORRUPT')
  return isDamage(error.cause)
}
