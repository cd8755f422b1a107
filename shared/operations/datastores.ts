import { KeyValue, KeyValueQuery, Postgres, PostgresQuery } from '../datastore.ts'
import { defineOperations } from '../operation.ts'
import { PageOf } from '../schema.ts'

const common = { method: 'GET', access: 'services.read', tag: 'Datastores' } as const

/** Databases. Clients of Render's API ask for them when they look for a name, and fail where the lists are not there. */
export const datastoreOperations = defineOperations({
  listPostgres: {
    ...common,
    path: '/v1/postgres',
    summary: 'List Postgres databases: there are none yet',
    query: PostgresQuery,
    responses: { 200: PageOf('postgres', Postgres) },
  },
  listKeyValue: {
    ...common,
    path: '/v1/key-value',
    summary: 'List key-value stores: there are none yet',
    query: KeyValueQuery,
    responses: { 200: PageOf('keyValue', KeyValue) },
  },
  listRedis: {
    ...common,
    path: '/v1/redis',
    summary: 'List key-value stores under their old name: there are none yet',
    query: KeyValueQuery,
    responses: { 200: PageOf('redis', KeyValue) },
  },
})
