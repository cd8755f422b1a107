import type { Static } from '@sinclair/typebox'
import type { KeyValue, KeyValueQuery } from '../../../shared/key-value.ts'
import { idPageOf, pageOf } from '../../http/answers/page.ts'
import type { Handlers } from '../../http/handlers/call.ts'
import type { Viewer } from '../../identity/scopes/protection.ts'
import type { AppContext } from '../context.ts'
import { listDatastores } from '../datastores/store.ts'
import { presentKeyValue } from './present.ts'

export const keyValueRoutes: Handlers<'listKeyValue' | 'listRedis', AppContext> = {
  listKeyValue: ({ actor, query }, context) => pageOf('keyValue', found(context, actor, query), ({ id }) => [id]),
  listRedis: ({ actor, query }, context) => pageOf('redis', found(context, actor, query), ({ id }) => [id]),
}

const found = (context: AppContext, actor: Viewer, query: Static<typeof KeyValueQuery>): KeyValue[] =>
  listDatastores(context.db, actor, { ...query, ...idPageOf(query), kind: 'key_value' }).map((one) => presentKeyValue(context, one))
