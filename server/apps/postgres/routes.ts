import { idPageOf, pageOf } from '../../http/answers/page.ts'
import type { Handlers } from '../../http/handlers/call.ts'
import type { AppContext } from '../context.ts'
import { listDatastores } from '../datastores/store.ts'
import { presentPostgres } from './present.ts'

export const postgresRoutes: Handlers<'listPostgres', AppContext> = {
  listPostgres({ actor, query }, context) {
    const found = listDatastores(context.db, actor, { ...query, ...idPageOf(query), kind: 'postgres' })
    return pageOf(
      'postgres',
      found.map((datastore) => presentPostgres(context, datastore)),
      ({ id }) => [id],
    )
  },
}
