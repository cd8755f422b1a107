import { basename } from 'node:path'
import type { Command } from 'commander'
import { isId } from '../../shared/id.ts'
import { nearest } from '../../shared/nearest.ts'
import type { Service } from '../../shared/service.ts'
import { allPages, pages } from '../api/pages.ts'
import { CliError, usageError } from '../base/error.ts'
import type { Context } from '../session/context.ts'

/** How many names are looked through for the one that was meant. */
const MAX_NAMES = 500

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
  const meant = isId('service', wanted) ? undefined : nearest(wanted, await serviceNames(context))
  const hint = meant === undefined ? 'cpctl services list shows them.' : `Did you mean ${meant}? cpctl services list shows all.`
  if (nameOrId === undefined) throw usageError(`There is no service named after this folder (${wanted}).`, `Name the service. ${hint}`)
  throw new CliError('not_found', `There is no service ${nameOrId}.`, { hint })
}

export async function serviceNames({ client }: Pick<Context, 'client'>): Promise<string[]> {
  const all = await allPages((query) => client.call('listServices', { query }), MAX_NAMES)
  return all.map(({ service }) => service.name)
}

export interface OfService {
  service?: string
}

/** The option that names the service where the argument does not. */
export const addServiceOption = (command: Command): Command =>
  command.option('-s, --service <service>', 'Name or id; default: the one named after this folder')

/** What names the service, as argument or option. @throws CliError with the usage exit code when the two differ. */
export function serviceNamed(argument: string | undefined, { service }: OfService): string | undefined {
  if (argument !== undefined && service !== undefined && argument !== service)
    throw usageError(`Two services are named: ${argument} and --service ${service}.`, 'Give one of the two.')
  return argument ?? service
}

/** The words of a command that may begin with the service: as many as `own` at the end are the command's own. */
export function splitService(words: readonly string[], own: number, options: OfService): { name: string | undefined; rest: string[] } {
  const extra = words.length - own
  if (extra < 0 || extra > 1)
    throw usageError(extra < 0 ? 'Something is missing.' : `${words[0]} and ${words[1]}: only one service can be named.`)
  return { name: serviceNamed(extra === 1 ? words[0] : undefined, options), rest: words.slice(extra) }
}
