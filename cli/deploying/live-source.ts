import type { Service } from '../../shared/service.ts'
import type { Context } from '../session/context.ts'

/** Id of the source that is live in a service; undefined where nothing is. */
export async function liveSourceOf({ client }: Pick<Context, 'client'>, { id }: Pick<Service, 'id'>): Promise<string | undefined> {
  const [live] = await client.call('listDeploys', { params: { serviceId: id }, query: { status: ['live'], limit: 1 } })
  return live?.deploy.source?.id
}
