import type { Command } from 'commander'
import { isId } from '../../shared/id.ts'
import { allPages } from '../api/pages.ts'
import { backupColumns, tellBackup } from '../backups/backups.ts'
import { CliError, usageError } from '../base/error.ts'
import { formatTook } from '../base/figures.ts'
import { present } from '../base/present.ts'
import { resolvePostgres } from '../finding/postgres.ts'
import { momentIn } from '../options/moment.ts'
import { untilAvailable } from '../postgres/until-available.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import { clean } from '../terminal/text.ts'

interface RecoverOptions {
  at?: string
  backup?: string
  name?: string
  wait: boolean
}

const recoverDetails = `
The original stays as it is. A database that was deleted in the last days is named by its id. Moments:
  $ cpctl postgres recover shop --at '5 minutes ago'
  $ cpctl postgres recover shop --at 2026-11-20T10:15:00Z --name shop-before`

export function addPostgresBackupCommands(postgres: Command, start: Start): void {
  const backups = postgres.command('backups').description('Backups of a database')
  const of = (parent: Command, name: string, description: string) =>
    parent.command(name).description(description).argument('<database>', 'Name or id')
  of(backups, 'list', 'List backups of a database, and what moments it can be recovered to')
    .alias('ls')
    .action((name: string, _: unknown, command: Command) => list(start(command), name))
  of(backups, 'create', 'Take a full backup now')
    .option('--no-wait', 'Do not wait until it is complete')
    .action((name: string, { wait }: { wait: boolean }, command: Command) => create(start(command), name, wait))
  of(postgres, 'recover', 'Make a new database of what a database was at a moment, to the second')
    .option('--at <moment>', 'Such as "5 minutes ago", or a time; default: the last that is known')
    .option('--backup <id>', 'What this backup holds, in place of a moment')
    .option('--name <name>', 'Name of the new database')
    .option('--no-wait', 'Do not wait until it can be connected to')
    .addHelpText('after', recoverDetails)
    .action((name: string, options: RecoverOptions, command: Command) => recover(start(command), name, options))
}

/** Nobody lists what was deleted: its id names it. */
const idOf = async (context: Context, nameOrId: string): Promise<string> =>
  isId('postgres', nameOrId) ? nameOrId : (await resolvePostgres(context, nameOrId)).id

async function list(context: Context, nameOrId: string): Promise<void> {
  const postgresId = await idOf(context, nameOrId)
  const page = await allPages((query) => context.client.call('listPostgresBackups', { params: { postgresId }, query }))
  printList(context, {
    page,
    row: ({ backup }) => backup,
    columns: backupColumns,
    empty: 'No backups yet. The first is taken as soon as it is available.',
  })
  if (context.isJson) return
  const { windows, problem } = await context.client.call('getPostgresRecovery', { params: { postgresId } })
  for (const { startsAt, endsAt, version } of windows)
    context.print(clean`It can be recovered to any moment from ${startsAt} to ${endsAt}, as PostgreSQL ${version}.`)
  if (problem !== undefined) context.print(clean`Its log is not streamed at the moment: ${problem}`)
}

async function create(context: Context, nameOrId: string, isAwaited: boolean): Promise<void> {
  const postgresId = await idOf(context, nameOrId)
  const made = await context.client.call('createPostgresBackup', { params: { postgresId } })
  const page = () => allPages((query) => context.client.call('listPostgresBackups', { params: { postgresId }, query }))
  await tellBackup(context, made, { isAwaited, list: async () => (await page()).map(({ backup }) => backup) })
}

async function recover(context: Context, nameOrId: string, { at, backup: backupId, name, wait }: RecoverOptions): Promise<void> {
  if (at !== undefined && backupId !== undefined) throw usageError('Give either --at or --backup.')
  const restoreTime = at === undefined ? undefined : momentIn(at, Date.now())
  const postgresId = await idOf(context, nameOrId)
  const made = await context.client.call('startPostgresRecovery', {
    params: { postgresId },
    body: present({ restoreTime, backupId, name }),
  })
  if (!context.isJson) context.print(clean`${made.name} (${made.id}) is being made.`)
  const begunAt = performance.now()
  const database = wait ? await untilAvailable(context, made) : made
  if (database.status === 'recovery_failed')
    throw new CliError(
      'unavailable',
      clean`The recovery failed. cpctl events --service ${database.name} tells why. Recover to another moment, and delete ${database.name}.`,
    )
  if (context.isJson) return context.printJson(database)
  if (!wait) return
  const took = formatTook(performance.now() - begunAt)
  context.print(clean`${database.name} is ${database.status} after ${took}: cpctl postgres info ${database.name} tells how to connect.`)
}
