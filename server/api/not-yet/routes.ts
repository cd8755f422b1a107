import { idAfter } from '../../http/answers/page.ts'
import type { Handlers } from '../../http/handlers/call.ts'
import type { ApiContext } from '../context.ts'

type EmptyLists = 'listPostgres' | 'listKeyValue' | 'listRedis'

/** Queries are checked all the same, so that nothing changes when a workspace can have these. */
export const emptyListRoutes: Handlers<EmptyLists, ApiContext> = {
  listPostgres: ({ query }) => noneAfter(query.cursor),
  listKeyValue: ({ query }) => noneAfter(query.cursor),
  listRedis: ({ query }) => noneAfter(query.cursor),
}

function noneAfter(cursor: string | undefined): never[] {
  idAfter(cursor)
  return []
}
