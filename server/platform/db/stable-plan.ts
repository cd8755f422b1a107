import { Database } from 'bun:sqlite'
import { memo } from '../memo.ts'

/** Bun keeps the first 20 statements of a database and prepares all later ones at each use; we have some hundreds. */
const KEPT_STATEMENTS = 1000
Database.MAX_QUERY_CACHE_SIZE = KEPT_STATEMENTS

const COMPARED_WITH_PARAMETER = /([=<>])\s*(?=[?$])/g

/**
 * The text of a statement whose plan depends on no value. SQLite prepares a statement anew at each binding of a parameter that its planner
 * has compared with something, which `WHERE a = ? ORDER BY b` does (sqlite3VdbeSetVarmask in its vdbeapi.c), and that costs ten times as much
 * as to run it. `SQLITE_DBCONFIG_ENABLE_QPSG` would end that, but Bun cannot set it. An operand `+?` means the same and is compared with nothing.
 */
export const withStablePlan = memo((sql: string) => sql.replace(COMPARED_WITH_PARAMETER, '$1 +'), KEPT_STATEMENTS)

/** Has a database prepare each of its statements once. Returns that database. */
export function keepPlans(db: Database): Database {
  const query = db.query.bind(db)
  db.query = ((sql: string) => query(withStablePlan(sql))) as Database['query']
  return db
}
