import type { Disk } from '../../shared/disk.ts'
import { isId } from '../../shared/id.ts'
import { pages } from '../api/pages.ts'
import { pollUntil } from '../api/poll.ts'
import { CliError, usageError } from '../base/error.ts'
import type { Context } from '../session/context.ts'
import { findService, folderService, type OfService, serviceNamed, splitService } from './service.ts'

/** The disk of this id, of this service (by name or id), or of this name. @throws CliError when there is none, or several have the name. */
export async function resolveDisk(context: Context, given: string): Promise<Disk> {
  if (isId('disk', given)) return await context.client.call('getDisk', { params: { diskId: given } })
  const service = await findService(context, given)
  const all: Disk[] = []
  for await (const { disk } of pages((page) => context.client.call('listDisks', { query: page }))) all.push(disk)
  const found = all.filter(({ name, serviceId }) => (service === undefined ? name === given : serviceId === service.id))
  const [disk] = found
  if (disk === undefined) throw new CliError('not_found', `There is no disk ${given}.`, { hint: 'cpctl disks list shows them.' })
  if (found.length > 1)
    throw usageError(`There are ${found.length} disks named ${given}.`, 'Give the id or the service; cpctl disks list shows them.')
  return disk
}

/** Waits until nothing is being done with a disk. @throws Interrupted on Ctrl-C; it goes on. */
export function untilAvailable({ client, io }: Context, disk: Disk): Promise<Disk> {
  return pollUntil(disk, {
    ask: () => client.call('getDisk', { params: { diskId: disk.id } }),
    isOver: ({ status }) => status === 'available',
    interrupted: io.interrupted,
  })
}

export const DISK_HELP = "Name, id, or the service that has it; default: the disk of this folder's service"

/** The disk that is meant: by argument, by its service, or that of the folder's service. */
export const diskNamed = ({ io }: Pick<Context, 'io'>, argument: string | undefined, options: OfService): string =>
  serviceNamed(argument, options) ?? folderService(io.cwd)

/** The disk and the last word of a command, where that word is its own. */
export function diskAndLast(context: Pick<Context, 'io'>, words: readonly string[], options: OfService): { disk: string; last: string } {
  const { name, rest } = splitService(words, 1, options)
  return { disk: diskNamed(context, name, {}), last: rest[0] ?? '' }
}
