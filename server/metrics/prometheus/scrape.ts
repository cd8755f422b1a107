import { readSeeded } from '../../auth/seed.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../http/call.ts'
import { servicesOf } from '../service-usage.ts'
import { contentTypes, exposition, formatFor } from './exposition.ts'
import { serverFamilies } from './server-families.ts'
import { serviceFamilies } from './service-families.ts'

/** What Prometheus reads: the services of the caller's workspace, and the server itself for members of its first workspace. */
export async function scrape(context: Context, { workspaceId }: Actor, accept: string | null): Promise<Response> {
  const { db, metrics } = context
  const own = serviceFamilies(servicesOf(db, workspaceId), metrics.latest(), metrics.totals())
  const server = readSeeded(db)?.workspaceId === workspaceId ? await serverFamilies(context) : []
  const format = formatFor(accept)
  return new Response(exposition([...server, ...own], format), { headers: { 'Content-Type': contentTypes[format], Vary: 'Accept' } })
}
