import { type Command, Option } from 'commander'
import { type KeyValue, type KeyValuePatch, keyValuePlanNames, maxmemoryPolicies, persistenceModes } from '../../shared/key-value.ts'
import { allPages } from '../api/pages.ts'
import { usageError } from '../base/error.ts'
import { present } from '../base/present.ts'
import { resolveKeyValue } from '../finding/key-value.ts'
import { untilAvailable } from '../key-value/until-available.ts'
import { allowedText, rangesShutOut } from '../options/allow-list.ts'
import { addPlaceFilter, addPlaceOption, emptyIn, type PlaceOptions, placeFilter, placeOfNew } from '../options/place.ts'
import { allowListOf } from '../options/service.ts'
import { gather } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import { confirmByName } from '../session/prompt.ts'
import { type Column, formatFields } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'
import { addKeyValueAccessCommands } from './key-value-access.ts'
import { addKeyValueBackupCommands } from './key-value-backups.ts'
import { addKeyValuePromptCommand } from './key-value-prompt.ts'
import { addKeyValueTopCommand } from './key-value-top.ts'

export type OfStore = (name: string, description: string) => Command

export function addKeyValueCommands(program: Command, start: Start): void {
  const stores = program.command('kv').alias('key-value').description('Key-value stores (Valkey, which speaks as Redis does)')
  addPlaceFilter(stores.command('list').alias('ls').description('List key-value stores')).action(
    (options: PlaceOptions, command: Command) => list(start(command), options),
  )
  addPlaceOption(addSettings(stores.command('create').description('Create a key-value store')))
    .argument('<name>', 'Its name')
    .option('-d, --detach', 'Do not wait until it is available')
    .addHelpText('after', '\nExample:\n  $ cpctl kv create cache --plan starter --policy allkeys-lru')
    .action((name: string, options: CreateOptions, command: Command) => create(start(command), name, options))
  const of: OfStore = (name, description) => stores.command(name).description(description).argument('<store>', 'Name or id')
  of('get', 'Show a key-value store')
    .alias('show')
    .action((name: string, _: unknown, command: Command) => get(start(command), name))
  addSettings(of('update', 'Change a key-value store; another plan restarts it, all else is in force at once'))
    .option('--name <name>', 'New name')
    .option('-y, --yes', 'Do not ask, where somebody is cut off')
    .option('-d, --detach', 'Do not wait for its restart')
    .action((name: string, options: UpdateOptions, command: Command) => update(start(command), name, options))
  of('delete', 'Delete a key-value store with everything in it')
    .alias('rm')
    .option('-y, --yes', 'Do not ask')
    .option('--force', 'Delete it although variables refer to it')
    .action((name: string, options: { yes?: boolean; force?: boolean }, command: Command) => remove(start(command), name, options))
  addKeyValueAccessCommands(of, start)
  addKeyValueBackupCommands(stores, of, start)
  addKeyValueTopCommand(of, start)
  addKeyValuePromptCommand(of, start)
}

interface SettingOptions {
  plan?: KeyValue['plan']
  policy?: string
  persistence?: string
  allowIp?: string[]
}

interface UpdateOptions extends SettingOptions {
  name?: string
  yes?: boolean
  detach?: boolean
}

const hyphened = (values: readonly string[]): string[] => values.map((value) => value.replace('_', '-'))

const addSettings = (command: Command): Command =>
  command
    .addOption(new Option('--plan <plan>', 'Memory, three quarters of which are for keys').choices(keyValuePlanNames))
    .addOption(new Option('--policy <policy>', 'What is removed when the memory is full').choices(hyphened(maxmemoryPolicies)))
    .addOption(new Option('--persistence <mode>', 'What survives a restart').choices(hyphened(persistenceModes)))
    .option('--allow-ip <ranges>', 'Addresses from outside that may connect, such as 203.0.113.0/24; or everywhere, or nobody', gather)

const settingsIn = ({ plan, policy, persistence, allowIp }: SettingOptions): KeyValuePatch =>
  present({
    plan: plan as KeyValuePatch['plan'],
    maxmemoryPolicy: policy as KeyValuePatch['maxmemoryPolicy'],
    persistenceMode: persistence as KeyValuePatch['persistenceMode'],
    ipAllowList: allowIp && allowListOf(allowIp),
  })

const columns: Column<KeyValue>[] = [
  { title: 'NAME', value: ({ name }) => name, isFlexible: true, colour: () => 'bold' },
  { title: 'ID', value: ({ id }) => id },
  { title: 'PLAN', value: ({ plan }) => plan },
  { title: 'VERSION', value: ({ version }) => version },
  { title: 'POLICY', value: ({ options }) => options.maxmemoryPolicy },
  { title: 'PERSISTENCE', value: ({ options }) => options.persistenceMode },
  { title: 'STATUS', value: ({ status }) => status, colour: ({ status }) => (status === 'available' ? 'green' : 'yellow') },
]

async function list(context: Context, options: PlaceOptions): Promise<void> {
  const filter = await placeFilter(context, options)
  const page = await allPages((query) => context.client.call('listKeyValue', { query: { ...query, ...filter } }))
  const empty = emptyIn(options, 'No key-value stores yet. Make one with cpctl kv create <name>.')
  printList(context, { page, row: ({ keyValue }) => keyValue, columns, empty })
}

interface CreateOptions extends SettingOptions, PlaceOptions {
  detach?: boolean
}

async function create(context: Context, name: string, { detach, ...options }: CreateOptions): Promise<void> {
  const place = await placeOfNew(context, options)
  const body = { name, ...settingsIn(options), ...(place && { environmentId: place.environment.id }) }
  const made = await context.client.call('createKeyValue', { body })
  const store = detach === true ? made : await untilAvailable(context, made)
  if (context.isJson) return context.printJson(store)
  context.print(clean`Created ${store.name} (${store.id}): ${store.status}.`)
  context.print(
    clean`cpctl kv info ${store.name} tells how to connect; cpctl env set REDIS_URL --from-kv ${store.name} gives it to a service.`,
  )
}

const fullness = { nearly_full: 'nearly full', full: 'full: it refuses writes until there is room; a larger plan has a larger disk' }

async function get(context: Context, name: string): Promise<void> {
  const store = await resolveKeyValue(context, name)
  if (context.isJson) return context.printJson(store)
  const { id, plan, version, status, options, backupProblem, ipAllowList, environmentId, createdAt } = store
  const fields: [string, string][] = [
    ['Name', store.name],
    ['Id', id],
    ['Status', status],
    ['Plan', plan],
    ['Version', version],
    ['When full', options.maxmemoryPolicy],
    ['Persistence', options.persistenceMode],
    ...(store.diskState === 'ok' ? [] : [['Disk', fullness[store.diskState]] as [string, string]]),
    ...(backupProblem === undefined ? [] : [['Backups', backupProblem] as [string, string]]),
    ['Allowed', allowedText(ipAllowList)],
    ...(environmentId === undefined ? [] : [['Environment', environmentId] as [string, string]]),
    ['Created', createdAt],
  ]
  context.io.stdout.write(formatFields(fields, context.paint))
}

async function update(context: Context, nameOrId: string, { name, yes, detach, ...options }: UpdateOptions): Promise<void> {
  const body = { ...settingsIn(options), ...present({ name }) }
  if (Object.keys(body).length === 0) throw usageError('There is nothing to change.', 'cpctl kv update --help tells what can be.')
  const store = await resolveKeyValue(context, nameOrId)
  const shutOut = rangesShutOut(store.ipAllowList, body.ipAllowList)
  if (shutOut.length > 0) context.note(clean`${store.name}: who connects from ${shutOut.join(', ')} is cut off.`)
  if (shutOut.length > 0) await confirmByName(context, store.name, yes === true)
  const isRestart = body.plan !== undefined && body.plan !== store.plan && store.suspended === 'not_suspended'
  if (isRestart) context.note(clean`${store.name} restarts for this: its connections end, and it is back in a moment.`)
  const changed = await context.client.call('updateKeyValue', { params: { keyValueId: store.id }, body })
  const seen = isRestart && detach !== true ? await untilAvailable(context, changed) : changed
  if (context.isJson) return context.printJson(seen)
  context.print(isRestart ? clean`Changed ${seen.name}. It restarted, and is ${seen.status}.` : clean`Changed ${seen.name}.`)
}

async function remove(context: Context, nameOrId: string, { yes, force }: { yes?: boolean; force?: boolean }): Promise<void> {
  const { id, name } = await resolveKeyValue(context, nameOrId)
  await confirmByName(context, name, yes === true)
  await context.client.call('deleteKeyValue', { params: { keyValueId: id }, query: present({ force }) })
  if (context.isJson) return
  context.print(clean`Deleted ${name}.`)
  context.print(clean`While its backups are kept, cpctl kv recover ${id} makes a new store of them.`)
}
