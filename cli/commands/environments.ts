import type { Command } from 'commander'
import type { Environment } from '../../shared/project.ts'
import { usageError } from '../base/error.ts'
import { present } from '../base/present.ts'
import {
  databasesIn,
  environmentsOf,
  groupsIn,
  type Place,
  placeName,
  projectIn,
  resolveEnvironment,
  servicesIn,
  splitPlace,
  storesIn,
} from '../finding/environments.ts'
import { projectsOf, resolveProject } from '../finding/projects.ts'
import { linkedPlace } from '../linking/linked.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import { confirmByName } from '../session/prompt.ts'
import { type Column, formatFields } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'
import { addMoveCommand } from './environment-moves.ts'
import { addSettingCommands } from './environment-settings.ts'

export interface OfProject {
  project?: string
}

export function addEnvironmentCommands(program: Command, start: Start): void {
  const environments = program
    .command('environments')
    .alias('environment')
    .description('Environments of projects, such as production and staging')
  environments
    .command('list')
    .alias('ls')
    .description('List environments')
    .option('--project <project>', 'Only those of this project, by name or id')
    .action((options: OfProject, command: Command) => list(start(command), options))
  environments
    .command('create')
    .description('Create an environment')
    .argument('<name>', 'project/name, or its name alone where --project or a link says the project')
    .option('--project <project>', 'Project to make it in, by name or id')
    .option('--protected', 'Only administrators delete, suspend or look into what is in it')
    .option('--isolated', 'Private names and addresses are reached from within it alone')
    .addHelpText('after', '\nExample:\n  $ cpctl environments create shop/production --protected --isolated')
    .action((name: string, options: CreateOptions, command: Command) => create(start(command), name, options))
  const of = (name: string, description: string) =>
    environments
      .command(name)
      .description(description)
      .argument('<environment>', 'Name, id or project/environment')
      .option('--project <project>', 'Project of the environment, by name or id')
  environments
    .command('show')
    .alias('get')
    .description('Show an environment')
    .argument('[environment]', 'Name, id or project/environment; default: the one that this folder is linked to')
    .option('--project <project>', 'Project of the environment, by name or id')
    .action((name: string | undefined, options: OfProject, command: Command) => show(start(command), name, options))
  of('rename', 'Rename an environment')
    .argument('<new-name>', 'Its new name')
    .action((name: string, newName: string, options: OfProject, command: Command) => rename(start(command), name, { ...options, newName }))
  of('delete', 'Delete an empty environment')
    .alias('rm')
    .option('-y, --yes', 'Do not ask')
    .action((name: string, options: OfProject & { yes?: boolean }, command: Command) => remove(start(command), name, options))
  addSettingCommands(of, start)
  addMoveCommand(environments, start)
}

export const environmentColumns: Column<Place>[] = [
  { title: 'NAME', value: placeName, isFlexible: true, colour: () => 'bold' },
  { title: 'SERVICES', value: ({ environment }) => String(environment.serviceIds.length), align: 'right' },
  {
    title: 'DATABASES',
    value: ({ environment: { databasesIds, redisIds } }) => String(databasesIds.length + redisIds.length),
    align: 'right',
  },
  { title: 'PROTECTED', value: ({ environment }) => (environment.protectedStatus === 'protected' ? 'yes' : 'no') },
  { title: 'ISOLATED', value: ({ environment }) => (environment.networkIsolationEnabled ? 'yes' : 'no') },
  { title: 'ID', value: ({ environment }) => environment.id },
]

async function list(context: Context, { project }: OfProject): Promise<void> {
  const only = project === undefined ? undefined : await resolveProject(context, project)
  const [page, projects] = await Promise.all([environmentsOf(context, only?.id), context.isJson ? [] : projectsOf(context)])
  const row = (environment: Environment) => ({ environment, project: projectIn(projects, environment.projectId) })
  const empty = 'No environments yet. Make one with cpctl environments create <project>/<name>.'
  printList(context, { page, row, columns: environmentColumns, empty })
}

interface CreateOptions extends OfProject {
  protected?: boolean
  isolated?: boolean
}

async function create(context: Context, text: string, options: CreateOptions): Promise<void> {
  const { project, environment: name } = splitPlace(text, options.project)
  const { id, name: projectName } = project === undefined ? await linkedProject(context, name) : await resolveProject(context, project)
  const settings = present({
    protectedStatus: options.protected ? ('protected' as const) : undefined,
    networkIsolationEnabled: options.isolated,
  })
  const environment = await context.client.call('createEnvironment', { body: { name, projectId: id, ...settings } })
  if (context.isJson) return context.printJson(environment)
  context.print(clean`Created ${projectName}/${environment.name} (${environment.id}).`)
  context.note(clean`To make services of a folder in it: cpctl link ${projectName}/${environment.name}`)
}

async function linkedProject(context: Context, name: string): Promise<Place['project']> {
  const linked = await linkedPlace(context, context.io.cwd)
  if (linked === undefined) throw usageError('Name the project as well.', `For example cpctl environments create shop/${name}.`)
  return linked.project
}

async function show(context: Context, name: string | undefined, { project }: OfProject): Promise<void> {
  const place = name === undefined ? await linkedPlace(context, context.io.cwd) : await resolveEnvironment(context, name, project)
  if (place === undefined) throw usageError('Name the environment: this folder is linked to none.', 'cpctl environments list shows them.')
  const { environment } = place
  if (context.isJson) return context.printJson(environment)
  const [services, groups, databases, stores] = await Promise.all([
    servicesIn(context, environment.id),
    groupsIn(context, environment.id),
    databasesIn(context, environment),
    storesIn(context, environment),
  ])
  const fields: [string, string][] = [
    ['Name', environment.name],
    ['Project', place.project.name],
    ['Id', environment.id],
    ['Protected', environment.protectedStatus === 'protected' ? 'yes' : 'no'],
    ['Isolated', environment.networkIsolationEnabled ? 'yes' : 'no'],
    ['Services', namesOf(services)],
    ['Databases', namesOf(databases)],
    ['Key-value stores', namesOf(stores)],
    ['Env groups', namesOf(groups)],
    ['Created', environment.createdAt],
    ['Updated', environment.updatedAt],
  ]
  context.io.stdout.write(formatFields(fields, context.paint))
}

const namesOf = (all: readonly { name: string }[]): string => all.map(({ name }) => name).join(', ') || 'none'

async function rename(context: Context, text: string, { project, newName }: OfProject & { newName: string }): Promise<void> {
  const place = await resolveEnvironment(context, text, project)
  const renamed = await context.client.call('updateEnvironment', {
    params: { environmentId: place.environment.id },
    body: { name: newName },
  })
  if (context.isJson) return context.printJson(renamed)
  context.print(clean`${placeName(place)} is named ${renamed.name} now.`)
}

async function remove(context: Context, text: string, { project, yes }: OfProject & { yes?: boolean }): Promise<void> {
  const place = await resolveEnvironment(context, text, project)
  await confirmByName(context, placeName(place), yes === true)
  await context.client.call('deleteEnvironment', { params: { environmentId: place.environment.id } })
  if (!context.isJson) context.print(clean`Deleted ${placeName(place)}.`)
}
