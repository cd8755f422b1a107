import { basename } from 'node:path'
import { isId } from '../shared/id.ts'
import type { Service } from '../shared/service.ts'
import type { Context } from './context.ts'
import { CliError, usageError } from './error.ts'
import { pages } from './pages.ts'

/** The service a folder stands for unless another is named: the one with the folder's name. */
export const folderService = (directory: string): string => basename(directory)

/** The service with this name or id; undefined when there is none. */
export async function findService({ client }: Pick<Context, 'client'>, nameOrId: string): Promise<Service | undefined> {
  if (isId('service', nameOrId)) {
    const found = client.call('getService', { params: { serviceId: nameOrId } })
    return found.catch((error: unknown) => {
      if (error instanceof CliError && error.code === 'not_found') return undefined
      throw error
    })
  }
  // A comma separates values of a filter, so a name that holds one has to be looked for among all.
  const filter = nameOrId.includes(',') ? {} : { name: [nameOrId] }
  for await (const { service } of pages((page) => client.call('listServices', { query: { ...page, ...filter } }))) {
    if (service.name === nameOrId) return service
  }
  return undefined
}

/** The named service, else the one named after the current folder. @throws CliError when there is none. */
export async function resolveService(context: Pick<Context, 'client' | 'io'>, nameOrId: string | undefined): Promise<Service> {
  const wanted = nameOrId ?? folderService(context.io.cwd)
  const service = await findService(context, wanted)
  if (service !== undefined) return service
  if (nameOrId === undefined) {
    throw usageError(`There is no service named after this folder (${wanted}).`, 'Name the service; cpctl services list shows them.')
  }
  throw new CliError('not_found', `There is no service ${nameOrId}.`, { hint: 'cpctl services list shows them.' })
}
