import { idAfter } from '../../http/answers/page.ts'
import type { Handlers } from '../../http/handlers/call.ts'
import type { ApiContext } from '../context.ts'

type EmptyLists = 'listProjects' | 'listEnvironments' | 'listPostgres' | 'listKeyValue' | 'listRedis'

/** Queries are checked all the same, so that nothing changes when a workspace can have these. */
export const emptyListRoutes: Handlers<EmptyLists, ApiContext> = {
  listProjects: ({ query }) => noneAfter(query.cursor),
  listEnvironments: ({ query }) => noneAfter(query.cursor),
  listPostgres: ({ query }) => noneAfter(query.cursor),
  listKeyValue: ({ query }) => noneAfter(query.cursor),
  listRedis: ({ query }) => noneAfter(query.cursor),
}

function noneAfter(cursor: string | undefined): never[] {
  idAfter(cursor)
  return []
}
