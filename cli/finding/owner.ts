/** Services, databases and key-value stores, for commands that do not care which of them is named. */
import { isId } from '../../shared/id.ts'
import { nearest } from '../../shared/nearest.ts'
import { allPages } from '../api/pages.ts'
import { CliError } from '../base/error.ts'
import type { Context } from '../session/context.ts'
import { findService, resolveService, serviceNames } from './service.ts'

interface Owner {
  id: string
  name: string
}

/** What is named: a service, else a database or key-value store; without a name, the folder's service. @throws CliError when there is none. */
export async function resolveOwner(context: Pick<Context, 'client' | 'io'>, nameOrId: string | undefined): Promise<Owner> {
  if (nameOrId === undefined || isId('service', nameOrId)) return await resolveService(context, nameOrId)
  if (isId('postgres', nameOrId) || isId('keyValue', nameOrId)) return { id: nameOrId, name: nameOrId }
  const service = await findService(context, nameOrId)
  if (service !== undefined) return service
  const datastores = await datastoresOf(context)
  const datastore = datastores.find(({ name }) => name === nameOrId)
  if (datastore !== undefined) return datastore
  const meant = nearest(nameOrId, [...(await serviceNames(context)), ...datastores.map(({ name }) => name)])
  const lists = 'cpctl services list, postgres list and kv list show all.'
  const hint = meant === undefined ? lists : `Did you mean ${meant}? ${lists}`
  throw new CliError('not_found', `There is no service or database ${nameOrId}.`, { hint })
}

interface PlaceQuery {
  environmentId?: string[]
  projectId?: string[]
}

/** All that the caller may see; none for those who see no datastores at all. */
export async function datastoresOf({ client }: Pick<Context, 'client'>, filter: PlaceQuery = {}): Promise<Owner[]> {
  try {
    const databases = await allPages((query) => client.call('listPostgres', { query: { ...query, ...filter } }))
    const stores = await allPages((query) => client.call('listKeyValue', { query: { ...query, ...filter } }))
    return [...databases.map(({ postgres }) => postgres), ...stores.map(({ keyValue }) => keyValue)]
  } catch (error) {
    if (error instanceof CliError && error.code === 'forbidden') return []
    throw error
  }
}
