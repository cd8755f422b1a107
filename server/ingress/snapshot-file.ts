import { existsSync, readFileSync } from 'node:fs'
import { writeSecretFile } from '../files/secret-file.ts'
import { EMPTY_ROUTE_TABLE, parseRouteTable, type RouteTable } from './route-table.ts'

/** Keeps the last applied table, so that an ingress that starts serves what the one before it served. */
export function saveSnapshot(path: string, table: RouteTable): void {
  writeSecretFile(path, JSON.stringify(table))
}

/** The table last saved, or the empty one before the first. @throws when the file is not a route table. */
export function loadSnapshot(path: string): RouteTable {
  return existsSync(path) ? parseRouteTable(JSON.parse(readFileSync(path, 'utf8'))) : EMPTY_ROUTE_TABLE
}
