import type { Database } from 'bun:sqlite'
import { Type } from '@sinclair/typebox'
import type { ConnectionPool } from '../../../shared/postgres.ts'
import { flag } from '../../platform/db/codec.ts'
import { json } from '../../platform/db/json-column.ts'
import { tableOf } from '../../platform/db/table.ts'

/** What a Postgres database has beyond what all datastores have. */
export interface StoredPostgres {
  id: string
  databaseName: string
  databaseUser: string
  parameterOverrides: Record<string, string>
  provenParameters: Record<string, string>
  connectionPool: ConnectionPool
  isAutoscaling: boolean
  isHighlyAvailable: boolean
  hasCluster: boolean
  /** Counted up whenever a cluster of another major version takes the place of its own; `lineageAt` is when, in milliseconds since 1970. */
  lineage: number
  lineageAt: number | null
  adminPasswordSealed: string
  backupPasswordSealed: string
}

const parameters = json({ schema: Type.Record(Type.String(), Type.String()) })

const databases = tableOf<StoredPostgres>('postgres_databases', {
  id: 'id',
  databaseName: 'database_name',
  databaseUser: 'database_user',
  parameterOverrides: { column: 'parameter_overrides', as: parameters },
  provenParameters: { column: 'proven_parameters', as: parameters },
  connectionPool: 'connection_pool',
  isAutoscaling: { column: 'is_autoscaling', as: flag },
  isHighlyAvailable: { column: 'is_highly_available', as: flag },
  hasCluster: { column: 'has_cluster', as: flag },
  lineage: 'lineage',
  lineageAt: 'lineage_at',
  adminPasswordSealed: 'admin_password_sealed',
  backupPasswordSealed: 'backup_password_sealed',
})

/** What is of a database alone, by its id; undefined where there is none. */
export const postgresById = (db: Database, id: string): StoredPostgres | undefined => databases.get(db, 'WHERE id = $id', { id })

/** Writes down what is of a new database alone, after the row that all datastores have. */
export function insertPostgres(db: Database, database: Omit<StoredPostgres, 'provenParameters' | 'lineage' | 'lineageAt'>): void {
  databases.insert(db, { ...database, provenParameters: {}, lineage: 0, lineageAt: null })
}

/** Changes what is named and nothing else. */
export function updatePostgres(db: Database, id: string, change: Partial<Omit<StoredPostgres, 'id' | 'databaseName'>>): void {
  databases.update(db, { id }, change)
}
