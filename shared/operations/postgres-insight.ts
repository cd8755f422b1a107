import { Type } from '@sinclair/typebox'
import { defineOperations } from '../operation.ts'
import { PostgresConnections, PostgresLock, PostgresQueriesQuery, PostgresStatement, PostgresTable } from '../postgres-insight.ts'
import { StrictObject } from '../schema.ts'

const postgresId = Type.String({ description: 'Id of the database' })
const common = {
  tag: 'Postgres',
  method: 'GET',
  params: Type.Object({ postgresId }),
  errors: ['not_found', 'conflict', 'unavailable'],
} as const
/** Statements of people may hold what is in the database, so that whoever sees them could connect to it. */
const revealing = { ...common, access: 'datastores.credentials', inProtected: 'refused' } as const

/** What a database is doing, asked of itself. It has to run. */
export const postgresInsightOperations = defineOperations({
  listPostgresQueries: {
    ...revealing,
    path: '/v1/postgres/:postgresId/queries',
    summary: 'Statements that took most time, or were called most',
    description: 'Out of pg_stat_statements, since its figures were begun anew.',
    query: PostgresQueriesQuery,
    responses: { 200: Type.Array(PostgresStatement) },
  },
  getPostgresConnections: {
    ...revealing,
    path: '/v1/postgres/:postgresId/connections',
    summary: 'Connections of a database and what each does now',
    responses: { 200: PostgresConnections },
  },
  listPostgresLocks: {
    ...revealing,
    path: '/v1/postgres/:postgresId/locks',
    summary: 'Who waits for a lock in a database, and for whom',
    responses: { 200: Type.Array(PostgresLock) },
  },
  listPostgresBloat: {
    ...common,
    path: '/v1/postgres/:postgresId/bloat',
    access: 'datastores.read',
    summary: 'Largest tables of a database, and how much of them is dead',
    responses: { 200: Type.Array(PostgresTable) },
  },
  cancelPostgresQuery: {
    ...common,
    method: 'POST',
    path: '/v1/postgres/:postgresId/queries/:pid/cancel',
    access: 'datastores.update',
    inProtected: 'refused',
    summary: 'Cancel what a connection of a database runs, or end the connection',
    params: Type.Object({
      postgresId,
      pid: Type.String({ description: 'As connections and locks tell it' }),
    }),
    body: StrictObject({
      terminate: Type.Optional(Type.Boolean({ description: 'End the connection as well; its transaction is undone' })),
    }),
    bodyOptional: true,
    responses: { 202: null },
    changes: 'after_waiting',
  },
})
