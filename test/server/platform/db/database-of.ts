import { Database } from 'bun:sqlite'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '../../../../server/platform/db/migrations')

/** A database as a version of before left it, with nothing in it. */
export function databaseOf(version: number): Database {
  const db = new Database(':memory:', { strict: true })
  const files = readdirSync(folder).sort().slice(0, version)
  for (const file of files) db.run(readFileSync(join(folder, file), 'utf8'))
  db.run(`PRAGMA user_version = ${version}`)
  return db
}
