import type { Command } from 'commander'
import type { Disk, DiskSnapshot } from '../../shared/disk.ts'
import { pollUntil } from '../api/poll.ts'
import { CliError } from '../base/error.ts'
import { ago, formatSize } from '../base/figures.ts'
import { DISK_HELP, diskAndLast, diskNamed, resolveDisk, untilAvailable } from '../finding/disks.ts'
import { addServiceOption, type OfService } from '../finding/service.ts'
import type { Context, Start } from '../session/context.ts'
import { printTable } from '../session/output.ts'
import { confirmByName } from '../session/prompt.ts'
import type { Column } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'

export function addSnapshotCommands(disks: Command, start: Start): void {
  const add = (name: string, description: string) => addServiceOption(disks.command(name).description(description))
  const of = (name: string, description: string) => add(name, description).argument('[disk]', DISK_HELP)
  const ofSnapshot = (name: string, description: string) =>
    add(name, description)
      .usage('[options] [disk] <snapshot>')
      .argument('<snapshot...>', 'Key of the snapshot; a word before it names the disk, or the service that has it')
      .option('-y, --yes', 'Do not ask')
  of('snapshots', 'List the snapshots of a disk').action((disk: string | undefined, options: OfService, command: Command) => {
    const context = start(command)
    return list(context, diskNamed(context, disk, options))
  })
  of('snapshot', 'Take a snapshot of a disk now; writes to it wait meanwhile')
    .option('-d, --detach', 'Do not wait until it is there')
    .action((disk: string | undefined, options: OfService & { detach?: boolean }, command: Command) => {
      const context = start(command)
      return take(context, diskNamed(context, disk, options), options.detach === true)
    })
  const acting =
    (act: (context: Context, named: Named, isConfirmed: boolean) => Promise<void>) =>
    (words: string[], options: OfService & { yes?: boolean }, command: Command): Promise<void> => {
      const context = start(command)
      const { disk, last: key } = diskAndLast(context, words, options)
      return act(context, { disk, key }, options.yes === true)
    }
  ofSnapshot(
    'restore',
    'Restore a disk from a snapshot; its service is stopped for a moment, and what was on it becomes a snapshot',
  ).action(acting(restore))
  ofSnapshot('delete-snapshot', 'Delete a snapshot').action(acting(remove))
}

const columnsAt = (now: number): Column<DiskSnapshot>[] => [
  { title: 'SNAPSHOT', value: ({ snapshotKey }) => snapshotKey },
  { title: 'TAKEN', value: ({ createdAt }) => ago(createdAt, now) },
  { title: 'BY', value: ({ origin }) => origin },
  { title: 'SIZE', value: ({ sizeBytes }) => (sizeBytes === undefined ? '-' : formatSize(sizeBytes)), align: 'right' },
  { title: 'STATE', value: ({ status, reason }) => (reason === undefined ? status : `${status}: ${reason}`), isFlexible: true },
]

const snapshotsOf = ({ client }: Context, { id }: Disk): Promise<DiskSnapshot[]> =>
  client.call('listDiskSnapshots', { params: { diskId: id } })

async function list(context: Context, name: string): Promise<void> {
  const disk = await resolveDisk(context, name)
  const snapshots = await snapshotsOf(context, disk)
  if (context.isJson) return context.printJson(snapshots)
  if (snapshots.length > 0) return printTable(context, columnsAt(context.io.now()), snapshots)
  context.note(clean`${disk.name} has no snapshots yet. One is taken daily, and by cpctl disks snapshot ${disk.name}.`)
}

async function take(context: Context, name: string, isDetached: boolean): Promise<void> {
  const disk = await resolveDisk(context, name)
  const asked = await context.client.call('createDiskSnapshot', { params: { diskId: disk.id } })
  const snapshot = isDetached ? asked : await untilTaken(context, disk, asked)
  if (context.isJson) context.printJson(snapshot)
  if (snapshot.status === 'failed') throw new CliError('conflict', clean`The snapshot was not taken. ${snapshot.reason ?? ''}`)
  if (!context.isJson) context.print(clean`${isDetached ? 'Taking' : 'Took'} ${snapshot.snapshotKey} of ${disk.name}.`)
}

function untilTaken(context: Context, disk: Disk, asked: DiskSnapshot): Promise<DiskSnapshot> {
  const ask = async () => {
    const found = (await snapshotsOf(context, disk)).find(({ snapshotKey }) => snapshotKey === asked.snapshotKey)
    if (found === undefined) throw new CliError('not_found', 'The snapshot was deleted meanwhile.')
    return found
  }
  return pollUntil(asked, { ask, isOver: ({ status }) => status !== 'creating', interrupted: context.io.interrupted })
}

interface Named {
  disk: string
  key: string
}

async function restore(context: Context, { disk: name, key: snapshotKey }: Named, isConfirmed: boolean): Promise<void> {
  const disk = await resolveDisk(context, name)
  if (!isConfirmed) context.note('Its service is stopped for it. What is on the disk now becomes a snapshot.')
  await confirmByName(context, disk.name, isConfirmed)
  const asked = await context.client.call('restoreDiskSnapshot', { params: { diskId: disk.id }, body: { snapshotKey } })
  const restored = await untilAvailable(context, asked)
  if (context.isJson) return context.printJson(restored)
  const [newest] = await snapshotsOf(context, disk)
  if (newest?.origin !== 'before_restore' || newest.snapshotKey <= snapshotKey)
    throw new CliError('conflict', clean`${disk.name} was not restored.`, { hint: 'cpctl services events tells why.' })
  context.print(clean`Restored ${disk.name} from ${snapshotKey}. What was on it before is ${newest.snapshotKey}.`)
}

async function remove(context: Context, { disk: name, key: snapshotKey }: Named, isConfirmed: boolean): Promise<void> {
  const disk = await resolveDisk(context, name)
  await confirmByName(context, snapshotKey, isConfirmed)
  await context.client.call('deleteDiskSnapshot', { params: { diskId: disk.id, snapshotKey } })
  if (!context.isJson) context.print(clean`Deleted ${snapshotKey}.`)
}
