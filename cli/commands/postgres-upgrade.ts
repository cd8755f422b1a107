import { type Command, Option } from 'commander'
import { defaultPostgresVersion, type Postgres, type PostgresUpgrade } from '../../shared/postgres.ts'
import { pollUntil } from '../api/poll.ts'
import { CliError } from '../base/error.ts'
import { resolvePostgres } from '../finding/postgres.ts'
import type { Context, Start } from '../session/context.ts'
import { confirmByName } from '../session/prompt.ts'
import { clean } from '../terminal/text.ts'

interface UpgradeOptions {
  to: string
  rollback?: boolean
  confirm?: boolean
  yes?: boolean
  wait: boolean
}

const details = `
Nobody can connect meanwhile, for seconds to minutes; names, users and passwords stay. Where it cannot be done, the database goes on as it was.
For a day it can be taken back, which loses what was written since:
  $ cpctl postgres upgrade shop --rollback
Until then what it was takes room on the disk of the server, which is freed early by:
  $ cpctl postgres upgrade shop --confirm`

export function addPostgresUpgradeCommand(postgres: Command, start: Start): void {
  postgres
    .command('upgrade')
    .description('Bring a database to another major version of PostgreSQL')
    .argument('<database>', 'Name or id')
    .option('--to <major>', 'The version', defaultPostgresVersion)
    .option('--rollback', 'Take the last upgrade back')
    .addOption(new Option('--confirm', 'Give up what it was before the last upgrade').conflicts(['rollback', 'to']))
    .option('-y, --yes', 'Do not ask')
    .option('--no-wait', 'Do not wait until it is done')
    .addHelpText('after', details)
    .action((name: string, options: UpgradeOptions, command: Command) => actionFor(options)(start(command), name, options))
}

function actionFor({ rollback, confirm }: UpgradeOptions): typeof upgrade {
  if (rollback === true) return rollBack
  return confirm === true ? confirmUpgrade : upgrade
}

async function upgrade(context: Context, nameOrId: string, { to, yes, wait }: UpgradeOptions): Promise<void> {
  const { id, name, version } = await resolvePostgres(context, nameOrId)
  if (!context.isJson) context.print(clean`${name} is brought from PostgreSQL ${version} to ${to}. Nobody can connect meanwhile.`)
  await confirmByName(context, name, yes === true)
  const asked = await context.client.call('updatePostgres', { params: { postgresId: id }, body: { version: to } })
  await end(context, wait ? await untilOver(context, asked) : asked)
}

async function rollBack(context: Context, nameOrId: string, { yes, wait }: UpgradeOptions): Promise<void> {
  const { id, name, upgrade: last } = await resolvePostgres(context, nameOrId)
  if (last?.rollbackTo !== undefined && !context.isJson)
    context.print(clean`${name} is taken back to PostgreSQL ${last.fromVersion}. All that was written since ${last.rollbackTo} is lost.`)
  await confirmByName(context, name, yes === true)
  await context.client.call('rollBackPostgres', { params: { postgresId: id } })
  const begun = await context.client.call('getPostgres', { params: { postgresId: id } })
  await end(context, wait ? await untilOver(context, begun) : begun)
}

async function confirmUpgrade(context: Context, nameOrId: string, { yes }: UpgradeOptions): Promise<void> {
  const { id, name, upgrade: last } = await resolvePostgres(context, nameOrId)
  if (last?.rollbackUntil !== undefined && !context.isJson)
    context.print(clean`What ${name} was as PostgreSQL ${last.fromVersion} is removed, and nothing can take the upgrade back any more.`)
  await confirmByName(context, name, yes === true)
  await context.client.call('confirmUpgradedPostgres', { params: { postgresId: id } })
  if (context.isJson) context.printJson(await context.client.call('getPostgres', { params: { postgresId: id } }))
  else context.print(clean`The upgrade of ${name} is confirmed.`)
}

const doing: Partial<Record<PostgresUpgrade['step'], string>> = {
  preparing: 'what it needs is got ready, and a backup that is being taken is waited for',
  checking: 'it is stopped, and looked at whether it can be done',
  keeping: 'what it is now is kept for a day',
  linking: 'its data is brought to the new version',
  starting: 'it is started',
  returning: 'what it was before is put back',
}

const isOver = ({ status, upgrade: last }: Postgres): boolean =>
  last === undefined ||
  (last.status !== 'in_progress' && last.status !== 'rolling_back' && status !== 'updating_instance' && status !== 'config_restart')

async function untilOver(context: Context, database: Postgres): Promise<Postgres> {
  let told = ''
  return await pollUntil(database, {
    ask: () => context.client.call('getPostgres', { params: { postgresId: database.id } }),
    isOver,
    onSeen({ upgrade: last }) {
      const words = (last && doing[last.step]) ?? ''
      if (words !== '' && words !== told) context.note(clean`${database.name}: ${words} …`)
      told = words
    },
    interrupted: context.io.interrupted,
  })
}

async function end(context: Context, database: Postgres): Promise<void> {
  const { id, name, version, status, upgrade: last } = database
  if (last?.status === 'failed' || (last?.status === 'rolled_back' && last.reason !== undefined))
    throw new CliError('unavailable', `${name} is of PostgreSQL ${version} as before. ${last.reason ?? ''}`.trim(), {
      hint: `cpctl events ${id} has it as well.`,
    })
  if (context.isJson) return context.printJson(database)
  context.print(clean`${name} is of PostgreSQL ${version}: ${status}.`)
  if (last?.reason !== undefined) context.print(clean`${last.reason}`)
  if (last?.rollbackUntil !== undefined)
    context.print(
      clean`Until ${last.rollbackUntil} cpctl postgres upgrade ${name} --rollback takes it back; --confirm frees what that takes on the disk.`,
    )
}
