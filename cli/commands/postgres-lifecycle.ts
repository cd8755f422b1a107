import type { Command } from 'commander'
import type { Postgres } from '../../shared/postgres.ts'
import { allPages } from '../api/pages.ts'
import { CliError } from '../base/error.ts'
import { present } from '../base/present.ts'
import { resolvePostgres } from '../finding/postgres.ts'
import { allowedText } from '../options/allow-list.ts'
import { addPlaceFilter, emptyIn, type PlaceOptions, placeFilter } from '../options/place.ts'
import { untilAvailable } from '../postgres/until-available.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import { confirmByName } from '../session/prompt.ts'
import { type Column, formatFields } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'

export function addPostgresLifecycleCommands(postgres: Command, start: Start): void {
  addPlaceFilter(postgres.command('list').alias('ls').description('List databases')).action((options: PlaceOptions, command: Command) =>
    list(start(command), options),
  )
  const of = (name: string, description: string) => postgres.command(name).description(description).argument('<database>', 'Name or id')
  of('get', 'Show a database')
    .alias('show')
    .action((name: string, _: unknown, command: Command) => get(start(command), name))
  of('info', 'Show how to connect to a database, with its password').action((name: string, _: unknown, command: Command) =>
    info(start(command), name),
  )
  of('suspend', 'Stop a database; what is in it is kept').action((name: string, _: unknown, command: Command) =>
    suspend(start(command), name),
  )
  of('resume', 'Start a suspended database').action((name: string, _: unknown, command: Command) =>
    begin(start(command), name, 'resumePostgres'),
  )
  of('restart', 'Restart a database').action((name: string, _: unknown, command: Command) => begin(start(command), name, 'restartPostgres'))
  of('failover', 'Have the standby of a database take its place').action((name: string, _: unknown, command: Command) =>
    begin(start(command), name, 'failoverPostgres'),
  )
  of('delete', 'Delete a database with everything in it')
    .alias('rm')
    .option('-y, --yes', 'Do not ask')
    .option('--force', 'Delete it although variables refer to it')
    .action((name: string, options: { yes?: boolean; force?: boolean }, command: Command) => remove(start(command), name, options))
}

const columns: Column<Postgres>[] = [
  { title: 'NAME', value: ({ name }) => name, isFlexible: true, colour: () => 'bold' },
  { title: 'ID', value: ({ id }) => id },
  { title: 'PLAN', value: ({ plan }) => plan },
  { title: 'DISK', value: ({ diskSizeGB }) => `${diskSizeGB} GB`, align: 'right' },
  { title: 'VERSION', value: ({ version }) => version },
  { title: 'ROLE', value: ({ role }) => role },
  { title: 'STATUS', value: ({ status }) => status, colour: ({ status }) => (status === 'available' ? 'green' : 'yellow') },
]

async function list(context: Context, options: PlaceOptions): Promise<void> {
  const filter = await placeFilter(context, options)
  const page = await allPages((query) => context.client.call('listPostgres', { query: { ...query, ...filter } }))
  const empty = emptyIn(options, 'No databases yet. Make one with cpctl postgres create <name>.')
  printList(context, { page, row: ({ postgres }) => postgres, columns, empty })
}

async function get(context: Context, name: string): Promise<void> {
  const found = await resolvePostgres(context, name)
  if (context.isJson) return context.printJson(found)
  const settings = Object.entries(found.parameterOverrides ?? {}).map(([key, value]) => `${key}=${value}`)
  const fields: [string, string | undefined][] = [
    ['Name', found.name],
    ['Id', found.id],
    ['Status', found.status],
    ['Replica of', found.primaryPostgresID],
    ['Standby', found.highAvailabilityEnabled ? 'on the same machine' : undefined],
    ['Behind', found.replicationLagSeconds === undefined ? undefined : `${found.replicationLagSeconds} s`],
    ['Replicas', found.readReplicas.map((replica) => replica.name).join(', ') || undefined],
    ['Plan', found.plan],
    ['Version', `${found.version}${wayBack(found)}`],
    ['Database', found.databaseName],
    ['First user', found.databaseUser],
    ['Disk', `${found.diskSizeGB} GB${found.diskAutoscalingEnabled ? ', grows by itself' : ''}${fullness(found)}`],
    ['Backups', found.backupProblem],
    ['Allowed', allowedText(found.ipAllowList)],
    ['Settings', settings.length === 0 ? undefined : settings.join(', ')],
    ['Environment', found.environmentId],
    ['Created', found.createdAt],
  ]
  context.io.stdout.write(formatFields(fields, context.paint))
}

const wayBack = ({ name, upgrade }: Postgres): string =>
  upgrade?.rollbackUntil === undefined
    ? ''
    : `; cpctl postgres upgrade ${name} --rollback takes it back to ${upgrade.fromVersion} until ${upgrade.rollbackUntil}`

function fullness({ name, diskState, diskSizeGB }: Postgres): string {
  if (diskState === 'ok') return ''
  const advice = `cpctl postgres update ${name} --disk ${diskSizeGB + 1} makes it larger`
  return diskState === 'full' ? `; full, so nothing can be written: ${advice}` : `; nearly full: ${advice}`
}

async function info(context: Context, nameOrId: string): Promise<void> {
  const { id } = await resolvePostgres(context, nameOrId)
  const found = await context.client.call('getPostgresConnectionInfo', { params: { postgresId: id } })
  if (context.isJson) return context.printJson(found)
  const none = 'none: the server has no way in from outside (CP_INGRESS_POSTGRES)'
  const fields: [string, string | undefined][] = [
    ['Inside', found.internalConnectionString],
    ['Outside', found.externalConnectionString || none],
    ['Pooled inside', found.internalConnectionPoolString],
    ['Pooled outside', found.externalConnectionPoolString],
    ['Command', found.psqlCommand || undefined],
  ]
  context.io.stdout.write(formatFields(fields, context.paint))
}

async function suspend(context: Context, nameOrId: string): Promise<void> {
  const { id, name } = await resolvePostgres(context, nameOrId)
  await context.client.call('suspendPostgres', { params: { postgresId: id } })
  if (!context.isJson) context.print(clean`${name} is suspended. cpctl postgres resume ${name} starts it again.`)
}

async function begin(
  context: Context,
  nameOrId: string,
  operation: 'resumePostgres' | 'restartPostgres' | 'failoverPostgres',
): Promise<void> {
  const { id, name } = await resolvePostgres(context, nameOrId)
  await context.client.call(operation, { params: { postgresId: id } })
  const database = await untilAvailable(context, await context.client.call('getPostgres', { params: { postgresId: id } }))
  if (operation === 'failoverPostgres') await requireFailedOver(context, id)
  if (context.isJson) context.printJson(database)
  else context.print(clean`${name} is ${database.status}.`)
}

/** @throws CliError saying why the database goes on itself. */
async function requireFailedOver(context: Context, postgresId: string): Promise<void> {
  const query = { type: ['postgres_failover_failed', 'postgres_cluster_leader_changed'] as const, limit: 1 }
  const page = await context.client.call('listPostgresEvents', { params: { postgresId }, query: { ...query, type: [...query.type] } })
  const { type, details } = page[0]?.event ?? {}
  if (type === 'postgres_failover_failed') throw new CliError('conflict', String(details?.reason))
}

async function remove(context: Context, nameOrId: string, { yes, force }: { yes?: boolean; force?: boolean }): Promise<void> {
  const { id, name } = await resolvePostgres(context, nameOrId)
  await confirmByName(context, name, yes === true)
  await context.client.call('deletePostgres', { params: { postgresId: id }, query: present({ force }) })
  if (context.isJson) return
  context.print(clean`Deleted ${name}.`)
  context.print(clean`While its backups are kept, cpctl postgres recover ${id} makes a new database of them.`)
}
