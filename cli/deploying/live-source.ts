import type { Service } from '../../shared/service.ts'
import type { Context } from '../session/context.ts'

export async function liveSourceOf({ client }: Pick<Context, 'client'>, { id }: Pick<Service, 'id'>): Promise<string | undefined> {
  const [live] = await client.call('listDeploys', { params: { serviceId: id }, query: { status: ['live'], limit: 1 } })
  return live?.deploy.source?.id
}
