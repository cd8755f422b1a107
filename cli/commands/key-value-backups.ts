import { type Command, Option } from 'commander'
import type { Backup } from '../../shared/backup.ts'
import { isId } from '../../shared/id.ts'
import { type KeyValuePlan, keyValuePlanNames } from '../../shared/key-value.ts'
import { allPages } from '../api/pages.ts'
import { backupColumns, tellBackup } from '../backups/backups.ts'
import { CliError } from '../base/error.ts'
import { formatTook } from '../base/figures.ts'
import { present } from '../base/present.ts'
import { resolveKeyValue } from '../finding/key-value.ts'
import { untilAvailable } from '../key-value/until-available.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import { clean } from '../terminal/text.ts'
import type { OfStore } from './key-value.ts'

interface RecoverOptions {
  backup?: string
  name?: string
  plan?: KeyValuePlan
  wait: boolean
}

const recoverDetails = `
The original stays as it is. A store that was deleted in the last days is named by its id.
  $ cpctl kv recover cache --name cache-before
  $ cpctl kv recover red-0b1c2d3e4f5g6h7i8j9k`

export function addKeyValueBackupCommands(stores: Command, of: OfStore, start: Start): void {
  const backups = stores.command('backups').description('Backups of a key-value store')
  const ofBackups = (name: string, description: string) => backups.command(name).description(description).argument('<store>', 'Name or id')
  ofBackups('list', 'List backups of a key-value store')
    .alias('ls')
    .action((name: string, _: unknown, command: Command) => list(start(command), name))
  ofBackups('create', 'Take a backup now')
    .option('--no-wait', 'Do not wait until it is complete')
    .action((name: string, { wait }: { wait: boolean }, command: Command) => create(start(command), name, wait))
  of('recover', 'Make a new key-value store of what a backup holds')
    .option('--backup <id>', 'Which, as the list of backups shows it; default: the newest')
    .option('--name <name>', 'Name of the new store')
    .addOption(new Option('--plan <plan>', 'Its plan; default: that of the original').choices(keyValuePlanNames))
    .option('--no-wait', 'Do not wait until it can be connected to')
    .addHelpText('after', recoverDetails)
    .action((name: string, options: RecoverOptions, command: Command) => recover(start(command), name, options))
}

/** Nobody lists what was deleted: its id names it. */
const idOf = async (context: Context, nameOrId: string): Promise<string> =>
  isId('keyValue', nameOrId) ? nameOrId : (await resolveKeyValue(context, nameOrId)).id

const backupsOf = async ({ client }: Context, keyValueId: string): Promise<{ backup: Backup; cursor: string }[]> =>
  await allPages((query) => client.call('listKeyValueBackups', { params: { keyValueId }, query }))

async function list(context: Context, nameOrId: string): Promise<void> {
  const page = await backupsOf(context, await idOf(context, nameOrId))
  const empty = 'No backups yet. The first is taken an hour after it was created; cpctl kv backups create takes one now.'
  printList(context, { page, row: ({ backup }) => backup, columns: backupColumns, empty })
}

async function create(context: Context, nameOrId: string, isAwaited: boolean): Promise<void> {
  const keyValueId = await idOf(context, nameOrId)
  const made = await context.client.call('createKeyValueBackup', { params: { keyValueId } })
  await tellBackup(context, made, { isAwaited, list: async () => (await backupsOf(context, keyValueId)).map(({ backup }) => backup) })
}

async function recover(context: Context, nameOrId: string, { backup, name, plan, wait }: RecoverOptions): Promise<void> {
  const keyValueId = await idOf(context, nameOrId)
  const body = present({ backupId: backup, name, plan })
  const made = await context.client.call('startKeyValueRecovery', { params: { keyValueId }, body })
  if (!context.isJson) context.print(clean`${made.name} (${made.id}) is being made.`)
  const begunAt = performance.now()
  const store = wait ? await untilAvailable(context, made) : made
  if (store.status === 'recovery_failed')
    throw new CliError('unavailable', clean`The recovery failed. cpctl events --service ${store.name} tells why. Delete ${store.name}.`)
  if (context.isJson) return context.printJson(store)
  if (!wait) return
  const took = formatTook(performance.now() - begunAt)
  context.print(clean`${store.name} is ${store.status} after ${took}: cpctl kv info ${store.name} tells how to connect.`)
}
