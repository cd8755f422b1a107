import type { Command } from 'commander'
import { type Disk, keptDiskDays, maxSizeGb, minSizeGb } from '../../shared/disk.ts'
import { allPages } from '../api/pages.ts'
import { CliError, usageError } from '../base/error.ts'
import { present } from '../base/present.ts'
import { DISK_HELP, diskAndLast, diskNamed, resolveDisk, untilAvailable } from '../finding/disks.ts'
import { addServiceOption, type OfService, resolveService, serviceNamed, splitService } from '../finding/service.ts'
import { parseDisk } from '../options/disk.ts'
import { addPlaceFilter, emptyIn, type PlaceOptions, placeFilter } from '../options/place.ts'
import { wholeNumber } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import { confirmByName } from '../session/prompt.ts'
import { type Column, formatFields } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'
import { addSnapshotCommands } from './disk-snapshots.ts'

export function addDiskCommands(program: Command, start: Start): void {
  const disks = program.command('disks').alias('disk').description('Persistent disks of services and their snapshots')
  const add = (name: string, description: string) => addServiceOption(disks.command(name).description(description))
  const of = (name: string, description: string) => add(name, description).argument('[disk]', DISK_HELP)
  addPlaceFilter(add('list', 'List disks, those kept of deleted services among them').alias('ls'))
    .argument('[service]', 'Only the disk of this service')
    .action((service: string | undefined, options: OfService & PlaceOptions, command: Command) =>
      list(start(command), serviceNamed(service, options), options),
    )
  of('get', 'Show a disk').action((disk: string | undefined, options: OfService, command: Command) => {
    const context = start(command)
    return get(context, diskNamed(context, disk, options))
  })
  add('create', 'Give a service a disk; it is mounted at the next deploy or restart')
    .usage('[options] [service] <disk>')
    .argument('<words...>', 'Name, mount path and size in GB, such as data:/var/data:10; a word before it names the service')
    .action((words: string[], options: OfService, command: Command) => {
      const { name, rest } = splitService(words, 1, options)
      return create(start(command), name, rest[0] ?? '')
    })
  add('resize', 'Grow a disk; its service is stopped for a moment')
    .usage('[options] [disk] <gigabytes>')
    .argument('<words...>', 'New size in GB; a word before it names the disk, or the service that has it')
    .action((words: string[], options: OfService, command: Command) => {
      const context = start(command)
      const { disk, last } = diskAndLast(context, words, options)
      return resize(context, disk, sizeIn(last))
    })
  disks
    .command('update')
    .description('Rename a disk, mount it at another path, or give a kept one to another service')
    .argument('<disk>', 'Name, id, or the service that has it')
    .option('--name <name>', 'New name')
    .option('--path <path>', 'New mount path, from the next deploy or restart on')
    .option('--service <service>', 'Service that is to have the kept disk of a deleted one')
    .action((disk: string, options: UpdateOptions, command: Command) => update(start(command), disk, options))
  of('delete', 'Delete a disk with everything on it and its snapshots')
    .option('-y, --yes', 'Do not ask')
    .action((disk: string | undefined, options: OfService & { yes?: boolean }, command: Command) => {
      const context = start(command)
      return remove(context, diskNamed(context, disk, options), options.yes === true)
    })
  addSnapshotCommands(disks, start)
}

const columns: Column<Disk>[] = [
  { title: 'NAME', value: ({ name }) => name, colour: () => 'bold' },
  { title: 'ID', value: ({ id }) => id },
  { title: 'SERVICE', value: ({ serviceId, deletedAt }) => (deletedAt === undefined ? serviceId : `${serviceId} (deleted)`) },
  { title: 'PATH', value: ({ mountPath }) => mountPath, isFlexible: true },
  { title: 'SIZE', value: ({ sizeGB }) => `${sizeGB} GB`, align: 'right' },
  { title: 'STATE', value: stateOf, colour: (disk) => (stateOf(disk) === 'available' ? undefined : 'yellow') },
]

function stateOf({ status, expiresAt }: Disk): string {
  return status === 'available' && expiresAt !== undefined ? `kept until ${expiresAt.slice(0, 10)}` : status
}

function sizeIn(text: string): number {
  try {
    return wholeNumber(minSizeGb, maxSizeGb)(text)
  } catch {
    throw usageError(`${text} is no size of a disk: give a whole number of GB from ${minSizeGb} to ${maxSizeGb}.`)
  }
}

async function list(context: Context, name: string | undefined, options: PlaceOptions): Promise<void> {
  const service = name === undefined ? undefined : await resolveService(context, name)
  const filter = await placeFilter(context, options)
  const all = await allPages((query) => context.client.call('listDisks', { query: { ...query, ...filter } }))
  const page = service === undefined ? all : all.filter(({ disk }) => disk.serviceId === service.id)
  printList(context, {
    page,
    row: ({ disk }) => disk,
    columns,
    empty: emptyIn(options, 'No disks yet. cpctl disks create <service> data:/var/data:10 makes one.'),
  })
}

async function get(context: Context, name: string): Promise<void> {
  const disk = await resolveDisk(context, name)
  if (context.isJson) return context.printJson(disk)
  const fields: [string, string | undefined][] = [
    ['Name', disk.name],
    ['Id', disk.id],
    ['Service', disk.serviceId],
    ['Path', disk.mountPath],
    ['Size', `${disk.sizeGB} GB`],
    ['State', stateOf(disk)],
    ['Service deleted', disk.deletedAt],
    ['Kept until', disk.expiresAt],
    ['Created', disk.createdAt],
    ['Updated', disk.updatedAt],
  ]
  context.io.stdout.write(formatFields(fields, context.paint))
}

async function create(context: Context, serviceName: string | undefined, text: string): Promise<void> {
  const given = parseDisk(text)
  const service = await resolveService(context, serviceName)
  const disk = await context.client.call('createDisk', { body: { serviceId: service.id, ...given } })
  if (context.isJson) return context.printJson(disk)
  context.print(clean`${service.name} has the disk ${disk.name} of ${disk.sizeGB} GB, mounted at ${disk.mountPath} from its next start on.`)
  context.note(clean`To start it now: cpctl services restart ${service.name}`)
  context.note('From now on it is deployed stop-first: it is away for a moment while one instance takes the place of the other.')
}

async function resize(context: Context, name: string, sizeGB: number): Promise<void> {
  const { id } = await resolveDisk(context, name)
  const asked = await context.client.call('updateDisk', { params: { diskId: id }, body: { sizeGB } })
  const disk = await untilAvailable(context, asked)
  if (context.isJson) return context.printJson(disk)
  if (disk.sizeGB < sizeGB) throw new CliError('conflict', clean`${disk.name} did not grow.`, { hint: 'cpctl services events tells why.' })
  context.print(clean`${disk.name} has ${disk.sizeGB} GB now.`)
}

interface UpdateOptions {
  name?: string
  path?: string
  service?: string
}

async function update(context: Context, name: string, options: UpdateOptions): Promise<void> {
  const disk = await resolveDisk(context, name)
  const service = options.service === undefined ? undefined : await resolveService(context, options.service)
  const body = present({ name: options.name, mountPath: options.path, serviceId: service?.id })
  if (Object.keys(body).length === 0) throw usageError('Nothing to change was given.', 'Run cpctl disks update --help for what can be.')
  const updated = await context.client.call('updateDisk', { params: { diskId: disk.id }, body })
  if (context.isJson) context.printJson(updated)
  else
    context.print(
      clean`Updated ${updated.name}.${options.path === undefined ? '' : ' The path takes effect with the next deploy or restart.'}`,
    )
}

async function remove(context: Context, name: string, isConfirmed: boolean): Promise<void> {
  const disk = await resolveDisk(context, name)
  if (!isConfirmed)
    context.note(`Everything on it and its snapshots will be lost at once; of a deleted service it would be kept for ${keptDiskDays} days.`)
  await confirmByName(context, disk.name, isConfirmed)
  await context.client.call('deleteDisk', { params: { diskId: disk.id } })
  if (!context.isJson) context.print(clean`Deleted ${disk.name}.`)
}
