import { readSeeded } from '../../auth/seed.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../http/call.ts'
import { selectServices } from '../../services/store.ts'
import { contentTypes, exposition, formatFor } from './exposition.ts'
import { serverFamilies } from './server-families.ts'
import { serviceFamilies } from './service-families.ts'

const MOST_SERVICES = 100_000

/** What Prometheus reads: the services of the caller's workspace, and the server itself for members of its first workspace. */
export async function scrape(context: Context, { workspaceId }: Actor, accept: string | null): Promise<Response> {
  const { db, metrics } = context
  const services = selectServices(db, { where: 'workspace_id = $workspaceId', values: { workspaceId }, limit: MOST_SERVICES })
  const own = serviceFamilies(services, metrics.latest(), metrics.totals())
  const server = readSeeded(db)?.workspaceId === workspaceId ? await serverFamilies(context) : []
  const format = formatFor(accept)
  return new Response(exposition([...server, ...own], format), { headers: { 'Content-Type': contentTypes[format], Vary: 'Accept' } })
}
