import type { Command } from 'commander'
import type { EnvGroup } from '../../shared/env-group.ts'
import { allPages } from '../api/pages.ts'
import { present } from '../base/present.ts'
import { type ChangeOptions, tellChange } from '../env-groups/touched.ts'
import { resolveGroup } from '../finding/env-groups.ts'
import { resolveEnvironment } from '../finding/environments.ts'
import { resolveProject } from '../finding/projects.ts'
import { resolveService } from '../finding/service.ts'
import { parsePairs } from '../options/env-pairs.ts'
import { addPlaceFilter, type PlaceOptions, placeFilter } from '../options/place.ts'
import type { Context, Start } from '../session/context.ts'
import { printList, printTable } from '../session/output.ts'
import { confirmByName } from '../session/prompt.ts'
import { secretValue } from '../terminal/secret-value.ts'
import { type Column, formatFields } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'
import { addGroupFileCommands } from './env-group-files.ts'
import { addGroupLinkCommands } from './env-group-links.ts'
import { addGroupVariableCommands } from './env-group-variables.ts'

export type OfGroup = (name: string, description: string) => Command

export function addEnvGroupCommands(program: Command, start: Start): void {
  const groups = program.command('env-groups').alias('env-group').description('Variables and secret files that several services share')
  addPlaceFilter(groups.command('list').alias('ls').description('List groups')).action((options: PlaceOptions, command: Command) =>
    list(start(command), options),
  )
  groups
    .command('create')
    .description('Create a group')
    .argument('<name>', 'Its name')
    .argument('[pairs...]', 'Variables that it begins with, as KEY=value')
    .option('-s, --service <service...>', 'Services to link to it, by name or id')
    .option('--environment <environment>', 'Only services in this environment can be linked: name, id or project/environment')
    .option('--project <project>', 'Only services in this project can be linked, by name or id; or the project of the environment')
    .option('--interpolate', 'Put the values of other variables in the place of ${NAME}')
    .option('--deploy', 'Deploy the services that it makes a difference for')
    .addHelpText('after', '\nExample:\n  $ cpctl env-groups create database DATABASE_URL=postgres://… --service web worker')
    .action((name: string, pairs: string[], options: CreateOptions, command: Command) =>
      create(start(command), { ...options, name, pairs }),
    )
  const of: OfGroup = (name, description) => groups.command(name).description(description).argument('<group>', 'Name or id')
  of('show', 'Show a group')
    .alias('get')
    .option('--show', 'Show the values')
    .action((name: string, options: { show?: boolean }, command: Command) => show(start(command), name, options))
  of('rename', 'Rename a group')
    .argument('<new-name>', 'Its new name')
    .action((name: string, newName: string, _: unknown, command: Command) => rename(start(command), name, newName))
  addGroupVariableCommands(of, start)
  addGroupFileCommands(groups, start)
  addGroupLinkCommands(of, start)
  of('delete', 'Delete a group')
    .alias('rm')
    .option('-y, --yes', 'Do not ask')
    .option('--force', 'Take it from the services that are linked to it')
    .option('--deploy', 'Deploy those services')
    .action((name: string, options: DeleteOptions, command: Command) => remove(start(command), name, options))
}

const columns: Column<EnvGroup>[] = [
  { title: 'NAME', value: ({ name }) => name, isFlexible: true, colour: () => 'bold' },
  { title: 'VARIABLES', value: ({ envVars }) => String(envVars.length), align: 'right' },
  { title: 'FILES', value: ({ secretFiles }) => String(secretFiles.length), align: 'right' },
  { title: 'SERVICES', value: ({ serviceLinks }) => serviceLinks.map(({ name }) => name).join(', ') || 'none', isFlexible: true },
  { title: 'ID', value: ({ id }) => id },
]

async function list(context: Context, options: PlaceOptions): Promise<void> {
  const filter = await placeFilter(context, options)
  const page = (await allPages((query) => context.client.call('listEnvGroups', { query: { ...query, ...filter } }))).map((item) => ({
    ...item,
    envGroup: withoutValues(item.envGroup),
  }))
  const empty = 'No env groups yet. Make one with cpctl env-groups create <name> KEY=value.'
  printList(context, { page, row: ({ envGroup }) => envGroup, columns, empty })
}

interface CreateOptions extends PlaceOptions, ChangeOptions {
  name: string
  pairs: string[]
  service?: string[]
  interpolate?: boolean
}

async function create(context: Context, { name, pairs, service = [], interpolate, deploy, ...place }: CreateOptions): Promise<void> {
  const envVars = parsePairs(pairs).map((pair) => ({ ...pair, ...present({ interpolate }) }))
  const services = await Promise.all(service.map((one) => resolveService(context, one)))
  const made = await context.client.call('createEnvGroup', {
    query: present({ deploy }),
    body: { name, envVars, serviceIds: services.map(({ id }) => id), ...(await placeIdsOf(context, place)) },
  })
  await tellChange(context, made, { what: clean`Created ${made.name} (${made.id}).`, ...present({ deploy }) })
}

/** A group of an environment, or of a whole project where that alone is named. */
async function placeIdsOf(
  context: Context,
  { project, environment }: PlaceOptions,
): Promise<{ environmentId?: string; projectId?: string }> {
  if (environment !== undefined) return { environmentId: (await resolveEnvironment(context, environment, project)).environment.id }
  return project === undefined ? {} : { projectId: (await resolveProject(context, project)).id }
}

async function show(context: Context, name: string, options: { show?: boolean }): Promise<void> {
  const found = await resolveGroup(context, name)
  const group = options.show === true ? found : withoutValues(found)
  if (context.isJson) return context.printJson(group)
  const fields: [string, string][] = [
    ['Name', group.name],
    ['Id', group.id],
    ['Services', group.serviceLinks.map((link) => link.name).join(', ') || 'none'],
    ['Secret files', group.secretFiles.map((file) => file.name).join(', ') || 'none'],
    ...(group.environmentId === undefined ? [] : [['Environment', group.environmentId] as [string, string]]),
    ...(group.projectId === undefined ? [] : [['Project', group.projectId] as [string, string]]),
    ['Created', group.createdAt],
    ['Updated', group.updatedAt],
  ]
  context.io.stdout.write(formatFields(fields, context.paint))
  if (group.envVars.length === 0) return
  context.print('')
  printTable(context, variableColumns(options.show === true), found.envVars)
}

const variableColumns = (isShown: boolean): Column<EnvGroup['envVars'][number]>[] => [
  { title: 'KEY', value: ({ key }) => key },
  { title: 'VALUE', value: (one) => secretValue(one, isShown), isFlexible: true },
  { title: 'INTERPOLATED', value: ({ interpolate }) => (interpolate ? 'yes' : '') },
]

/** Values are printed where they are asked for alone, in JSON as well. */
const withoutValues = (group: EnvGroup): EnvGroup => ({
  ...group,
  envVars: group.envVars.map((one) => ({ ...one, value: '', hidden: true as const })),
  secretFiles: group.secretFiles.map((one) => ({ ...one, content: '', hidden: true as const })),
})

async function rename(context: Context, name: string, newName: string): Promise<void> {
  const { id } = await resolveGroup(context, name)
  const renamed = await context.client.call('updateEnvGroup', { params: { envGroupId: id }, body: { name: newName } })
  if (context.isJson) context.printJson(withoutValues(renamed))
  else context.print(clean`${name} is named ${renamed.name} now.`)
}

interface DeleteOptions extends ChangeOptions {
  yes?: boolean
  force?: boolean
}

async function remove(context: Context, name: string, { yes, force, deploy = false }: DeleteOptions): Promise<void> {
  const group = await resolveGroup(context, name)
  await confirmByName(context, group.name, yes === true)
  const gone = await context.client.call('deleteEnvGroup', { params: { envGroupId: group.id }, query: { deploy, ...present({ force }) } })
  if (gone !== undefined) await tellChange(context, gone, { what: clean`Deleted ${group.name}.`, deploy })
}
