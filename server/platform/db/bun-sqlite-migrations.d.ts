// The package ships TypeScript sources that do not pass our compiler options; these are its types.
import type { Database } from 'bun:sqlite'

export interface Migration {
  version: number
  up: string[]
  down: string
}

export function migrate(db: Database, migrations: Migration[], targetVersion?: number): void
export function getMaximumVersion(migrations: Migration[]): number
export function getDatabaseVersion(db: Database): number
