import { KeyValue, KeyValueQuery } from '../key-value.ts'
import { defineOperations } from '../operation.ts'
import { PageOf } from '../schema.ts'

const common = { method: 'GET', access: 'datastores.read', tag: 'Datastores' } as const

/** Clients of Render's API ask for these lists when they look for a name, whatever it is of. */
export const datastoreOperations = defineOperations({
  listKeyValue: {
    ...common,
    path: '/v1/key-value',
    summary: 'List key-value stores',
    query: KeyValueQuery,
    responses: { 200: PageOf('keyValue', KeyValue) },
  },
  listRedis: {
    ...common,
    path: '/v1/redis',
    summary: 'List key-value stores under their old name',
    query: KeyValueQuery,
    responses: { 200: PageOf('redis', KeyValue) },
  },
})
