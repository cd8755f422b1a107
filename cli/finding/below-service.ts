import { isId } from '../../shared/id.ts'
import type { Service } from '../../shared/service.ts'
import { pages } from '../api/pages.ts'
import { CliError, usageError } from '../base/error.ts'
import type { Context } from '../session/context.ts'
import { findService, folderService, resolveService } from './service.ts'

interface Wanted<T> {
  kind: 'deploy' | 'job'
  id: string
  of: string | undefined
  ask: (service: Service) => Promise<T>
}

/** Something by its own id: asked of the named service, else of the folder's, else of each. @throws CliError when it is of none. */
export async function findBelowService<T>(context: Context, wanted: Wanted<T>): Promise<{ service: Service; found: T }> {
  const { kind, id, of } = wanted
  if (!isId(kind, id)) throw usageError(`${id} is not the id of a ${kind}.`, `cpctl ${kind}s list shows them.`)
  if (of !== undefined) {
    const service = await resolveService(context, of)
    return { service, found: await wanted.ask(service) }
  }
  const own = await findService(context, folderService(context.io.cwd))
  const here = own && (await lookIn(own, wanted))
  if (here !== undefined) return here
  for await (const { service } of pages((query) => context.client.call('listServices', { query }))) {
    const there = service.id === own?.id ? undefined : await lookIn(service, wanted)
    if (there !== undefined) return there
  }
  throw new CliError('not_found', `There is no ${kind} ${id}.`, { hint: `cpctl ${kind}s list shows those of a service.` })
}

async function lookIn<T>(service: Service, { ask }: Wanted<T>): Promise<{ service: Service; found: T } | undefined> {
  try {
    return { service, found: await ask(service) }
  } catch (error) {
    if (error instanceof CliError && error.code === 'not_found') return undefined
    throw error
  }
}
