import { traitsOf } from '../../../shared/service-type.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { readSeeded } from '../../identity/memberships/seeded.ts'
import type { InsightContext } from '../context.ts'
import { visibleDatastores, visibleServices } from '../visible-services.ts'
import { datastoreFamilies } from './datastore-families.ts'
import { contentTypes, exposition, formatFor } from './exposition.ts'
import { serverFamilies } from './server-families.ts'
import { serviceFamilies } from './service-families.ts'

/** Server families tell of all workspaces, so only whoever sees all of the first workspace gets them. */
export async function scrape(context: InsightContext, actor: Actor, accept: string | null): Promise<Response> {
  const { db, metrics } = context
  const services = visibleServices(db, actor).map(({ id, name, type }) => ({ id, name, isReached: traitsOf(type).isRouted }))
  const datastores = visibleDatastores(db, actor)
  const metered = [...services, ...datastores.map(({ id, name }) => ({ id, name, isReached: false }))]
  const own = [...serviceFamilies(metered, metrics.latest(), metrics.totals()), ...datastoreFamilies(context, datastores)]
  const seesServer = actor.scope === undefined && readSeeded(db)?.workspaceId === actor.workspaceId
  const server = seesServer ? await serverFamilies(context) : []
  const format = formatFor(accept)
  return new Response(exposition([...server, ...own], format), { headers: { 'Content-Type': contentTypes[format], Vary: 'Accept' } })
}
