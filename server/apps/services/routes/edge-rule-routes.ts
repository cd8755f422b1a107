import { DEFAULT_PAGE_ITEMS, decodeCursor, pageOf } from '../../../http/answers/page.ts'
import type { Handlers } from '../../../http/handlers/call.ts'
import type { AppContext } from '../../context.ts'
import { requireService } from '../require.ts'
import { untilRouted } from '../until-routed.ts'
import { presentHeaders, presentRoutes, replaceRules } from './edge-rules.ts'

export const edgeRuleRoutes: Handlers<'listHeaders' | 'replaceHeaders' | 'listRoutes' | 'replaceRoutes', AppContext> = {
  listHeaders({ actor, params, query }, context) {
    const { id, settings } = requireService(context, actor, params.serviceId)
    return pageOfRules('header', presentHeaders(id, settings.headers), query)
  },
  async replaceHeaders({ actor, params, body, change }, context) {
    const { id } = requireService(context, actor, params.serviceId)
    const { headers } = change(() => replaceRules(context, requireService(context, actor, id), { headers: body }))
    await untilRouted(context)
    return presentHeaders(id, headers)
  },
  listRoutes({ actor, params, query }, context) {
    const { id, settings } = requireService(context, actor, params.serviceId)
    return pageOfRules('route', presentRoutes(id, settings.routes), query)
  },
  async replaceRoutes({ actor, params, body, change }, context) {
    const { id } = requireService(context, actor, params.serviceId)
    const { routes } = change(() => replaceRules(context, requireService(context, actor, id), { routes: body }))
    await untilRouted(context)
    return presentRoutes(id, routes)
  },
}

/** The order of rules means something, so their place in the list is what a cursor holds. */
function pageOfRules<const N extends string, T>(name: N, rules: readonly T[], { cursor, limit }: { cursor?: string; limit?: number }) {
  const [after = -1] = (decodeCursor(cursor, ['number']) ?? []) as number[]
  const placed = rules.map((rule, place) => ({ rule, place })).filter(({ place }) => place > after)
  const page = placed.slice(0, limit ?? DEFAULT_PAGE_ITEMS)
  const places = new Map(page.map(({ rule, place }) => [rule, place]))
  return pageOf(
    name,
    page.map(({ rule }) => rule),
    (rule) => [places.get(rule) ?? 0],
  )
}
