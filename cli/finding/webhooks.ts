import { isId } from '../../shared/id.ts'
import { nearest } from '../../shared/nearest.ts'
import type { Webhook } from '../../shared/webhook.ts'
import { allPages } from '../api/pages.ts'
import { CliError } from '../base/error.ts'
import type { Context } from '../session/context.ts'
import { resolveEnvironment } from './environments.ts'
import { resolveProject } from './projects.ts'
import { resolveService } from './service.ts'

export const webhooksOf = async ({ client }: Pick<Context, 'client'>): Promise<Webhook[]> =>
  (await allPages((query) => client.call('listWebhooks', { query }))).map(({ webhook }) => webhook)

export async function resolveWebhook(context: Context, nameOrId: string): Promise<Webhook> {
  if (isId('webhook', nameOrId)) return await context.client.call('getWebhook', { params: { webhookId: nameOrId } })
  const all = await webhooksOf(context)
  const [webhook, other] = all.filter(({ name }) => name === nameOrId)
  if (other !== undefined)
    throw new CliError('conflict', `Several webhooks are named ${nameOrId}.`, { hint: 'Give the id: cpctl webhooks list shows it.' })
  if (webhook !== undefined) return webhook
  const meant = nearest(
    nameOrId,
    all.map(({ name }) => name),
  )
  const hint = `${meant === undefined ? '' : `Did you mean ${meant}? `}cpctl webhooks list shows them.`
  throw new CliError('not_found', `There is no webhook ${nameOrId}.`, { hint })
}

export interface Places {
  service?: string[]
  environment?: string[]
  project?: string[]
}

export interface PlaceIds {
  serviceIds: string[]
  environmentIds: string[]
  projectIds: string[]
}

/** Ids of the services, environments and projects that are named; undefined where none is. @throws CliError for one that is not there. */
export async function placeIds(context: Context, places: Places): Promise<PlaceIds | undefined> {
  const { service = [], environment = [], project = [] } = places
  if (service.length + environment.length + project.length === 0) return undefined
  const ids: PlaceIds = { serviceIds: [], environmentIds: [], projectIds: [] }
  for (const name of service) ids.serviceIds.push((await resolveService(context, name)).id)
  for (const name of environment) ids.environmentIds.push((await resolveEnvironment(context, name)).environment.id)
  for (const name of project) ids.projectIds.push((await resolveProject(context, name)).id)
  return ids
}
