import { type Command, Option } from 'commander'
import { maxSizeGb, minSizeGb } from '../../shared/disk.ts'
import { connectionPools, type Postgres, type PostgresPatch, postgresPlans } from '../../shared/postgres.ts'
import { CliError, usageError } from '../base/error.ts'
import { formatTook } from '../base/figures.ts'
import { present } from '../base/present.ts'
import { resolvePostgres } from '../finding/postgres.ts'
import { addPlaceOption, type PlaceOptions, placeOfNew } from '../options/place.ts'
import { allowListOf } from '../options/service.ts'
import { gather, wholeNumber } from '../options/values.ts'
import { type Effects, effectsOf, settingsNotKept } from '../postgres/changes.ts'
import { untilAvailable } from '../postgres/until-available.ts'
import type { Context, Start } from '../session/context.ts'
import { confirmByName } from '../session/prompt.ts'
import { clean } from '../terminal/text.ts'

interface SettingOptions {
  plan?: string
  disk?: number
  autoscale?: boolean
  highAvailability?: boolean
  allowIp?: string[]
  set?: string[]
  connectionPool?: string
}

interface CreateOptions extends SettingOptions, PlaceOptions {
  pgVersion?: string
  databaseName?: string
  user?: string
  readReplica?: string[]
  detach?: boolean
}

interface ReplicaOptions {
  addReplica?: string[] | undefined
  removeReplica?: string[] | undefined
}

interface UpdateOptions extends SettingOptions, ReplicaOptions {
  name?: string
  yes?: boolean
  detach?: boolean
}

const updateDetails = `
Another plan, another pooler and other settings restart it; a larger disk, the allow list, replicas and a standby do not.
  $ cpctl postgres update shop --disk 10
  $ cpctl postgres update shop --set work_mem=16MB --set max_connections=150
  $ cpctl postgres update shop --allow-ip 203.0.113.0/24 --yes`

export function addPostgresSettingCommands(postgres: Command, start: Start): void {
  addPlaceOption(addSettings(postgres.command('create').description('Create a Postgres database')))
    .argument('<name>', 'Its name')
    .option('--pg-version <major>', 'Major version of PostgreSQL')
    .option('--database-name <name>', 'What the database is called in SQL')
    .option('--user <name>', 'Its first user, who owns it')
    .option('--read-replica <name>', 'A read replica with this name; can be repeated', gather)
    .option('-d, --detach', 'Do not wait until it is available')
    .addHelpText('after', '\nExample:\n  $ cpctl postgres create shop --plan basic_1gb --disk 10')
    .action((name: string, options: CreateOptions, command: Command) => create(start(command), name, options))
  addSettings(postgres.command('update').description('Change a database; another plan or other settings restart it'))
    .argument('<database>', 'Name or id')
    .option('--name <name>', 'New name')
    .option('--add-replica <name>', 'Give it a read replica with this name; can be repeated', gather)
    .option('--remove-replica <name>', 'Delete its read replica with this name; can be repeated', gather)
    .option('-y, --yes', 'Do not ask, where somebody is cut off or a replica is deleted')
    .option('-d, --detach', 'Do not wait for its restart')
    .addHelpText('after', updateDetails)
    .action((name: string, options: UpdateOptions, command: Command) => update(start(command), name, options))
}

const addSettings = (command: Command): Command =>
  command
    .addOption(new Option('--plan <plan>', 'Memory, CPU and connections').choices(Object.keys(postgresPlans)))
    .option('--disk <gigabytes>', 'Size of its disk, which can grow and not shrink', wholeNumber(minSizeGb, maxSizeGb))
    .option('--autoscale', 'Have the disk grow when it is nearly full')
    .option('--no-autoscale', 'Have the disk stay as it is')
    .addOption(new Option('--connection-pool <pooler>', 'A pooler in front of it, for clients that connect often').choices(connectionPools))
    .option('--high-availability', 'Have a standby on the same machine take its place when its server or its files are broken')
    .option('--no-high-availability', 'Have none')
    .option('--allow-ip <ranges>', 'Addresses from outside that may connect, such as 203.0.113.0/24; or everywhere, or nobody', gather)
    .option(
      '--set <setting=value>',
      'Setting of the server in place of that of the plan, such as work_mem=16MB; all that are wanted',
      gather,
    )

function replicasFor({ name, readReplicas }: Postgres, { addReplica = [], removeReplica = [] }: ReplicaOptions): { name: string }[] {
  const there = readReplicas.map((replica) => replica.name)
  const unknown = removeReplica.find((replica) => !there.includes(replica))
  if (unknown !== undefined) throw usageError(`${name} has no read replica ${unknown}.`, `It has: ${there.join(', ') || 'none'}.`)
  return [...new Set([...there.filter((replica) => !removeReplica.includes(replica)), ...addReplica])].map((replica) => ({ name: replica }))
}

const settingsIn = ({ plan, disk, autoscale, highAvailability, allowIp, set, connectionPool }: SettingOptions): PostgresPatch =>
  present({
    plan: plan as PostgresPatch['plan'],
    diskSizeGB: disk,
    enableDiskAutoscaling: autoscale,
    connectionPool: connectionPool as PostgresPatch['connectionPool'],
    enableHighAvailability: highAvailability,
    ipAllowList: allowIp && allowListOf(allowIp),
    parameterOverrides: set && Object.fromEntries(set.map(settingIn)),
  })

function settingIn(text: string): [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw usageError(`${text} sets nothing.`, 'Write it as work_mem=16MB.')
  return [text.slice(0, at), text.slice(at + 1)]
}

async function create(
  context: Context,
  name: string,
  { pgVersion, databaseName, user, readReplica, detach, ...options }: CreateOptions,
): Promise<void> {
  const place = await placeOfNew(context, options)
  const own = present({
    version: pgVersion,
    databaseName,
    databaseUser: user,
    readReplicas: readReplica?.map((replica) => ({ name: replica })),
  })
  const body = { name, ...settingsIn(options), ...own, ...(place && { environmentId: place.environment.id }) }
  const made = await context.client.call('createPostgres', { body })
  const database: Postgres = detach === true ? made : await untilAvailable(context, made)
  if (context.isJson) return context.printJson(database)
  context.print(clean`Created ${database.name} (${database.id}): ${database.status}.`)
  context.print(clean`cpctl postgres info ${database.name} tells how to connect, cpctl postgres psql ${database.name} does.`)
}

async function update(
  context: Context,
  nameOrId: string,
  { name, addReplica, removeReplica, yes, detach, ...options }: UpdateOptions,
): Promise<void> {
  const given = { ...settingsIn(options), ...present({ name }) }
  const hasOther = addReplica !== undefined || removeReplica !== undefined
  if (Object.keys(given).length === 0 && !hasOther)
    throw usageError('There is nothing to change.', 'cpctl postgres update --help tells what can be.')
  const database = await resolvePostgres(context, nameOrId)
  const body = hasOther ? { ...given, readReplicas: replicasFor(database, { addReplica, removeReplica }) } : given
  const effects = effectsOf(database, body)
  await announce(context, { name: database.name, effects, isConfirmed: yes === true })
  const begunAt = performance.now()
  const changed = await context.client.call('updatePostgres', { params: { postgresId: database.id }, body })
  const isAwaited = effects.isRestart && detach !== true
  const seen = isAwaited ? await untilAvailable(context, changed) : changed
  if (isAwaited) refuseReverted(seen, body)
  if (context.isJson) return context.printJson(seen)
  const isSame = effects.changes.length === 0
  context.print(isSame ? clean`${seen.name} is as that already.` : clean`Changed ${seen.name}: ${effects.changes.join('; ')}.`)
  if (isAwaited) context.print(clean`It restarted, and is ${seen.status} after ${formatTook(performance.now() - begunAt)}.`)
}

async function announce(
  context: Context,
  { name, effects: { losses, isRestart }, isConfirmed }: { name: string; effects: Effects; isConfirmed: boolean },
): Promise<void> {
  for (const loss of losses) context.note(clean`${name}: ${loss}.`)
  if (losses.length > 0) await confirmByName(context, name, isConfirmed)
  if (isRestart) context.note(clean`${name} restarts for this: its connections end, and it is back in a moment.`)
}

function refuseReverted(database: Postgres, body: PostgresPatch): void {
  const lost = settingsNotKept(database, body).join(', ')
  if (lost === '') return
  const hint = clean`cpctl logs ${database.name} tells what its server said.`
  throw new CliError('unavailable', clean`${database.name} did not come up with ${lost}, so its settings are those of before.`, { hint })
}
