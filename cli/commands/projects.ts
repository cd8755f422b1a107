import type { Command } from 'commander'
import type { Environment, Project } from '../../shared/project.ts'
import { usageError } from '../base/error.ts'
import { ago } from '../base/figures.ts'
import { environmentsOf } from '../finding/environments.ts'
import { projectsOf, resolveProject } from '../finding/projects.ts'
import { gather } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { printList, printTable } from '../session/output.ts'
import { confirmByName } from '../session/prompt.ts'
import { type Column, formatFields } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'
import { environmentColumns } from './environments.ts'
import { addCopyCommand } from './project-copy.ts'

export function addProjectCommands(program: Command, start: Start): void {
  const projects = program.command('projects').alias('project').description('Projects: services that belong together, in environments')
  projects
    .command('list')
    .alias('ls')
    .description('List projects')
    .action((_: unknown, command: Command) => list(start(command)))
  projects
    .command('create')
    .description('Create a project, with environments at once')
    .argument('<name>', 'Name, unique in the workspace')
    .option('--environment <names>', 'Environments to make in it; several comma-joined or repeated', gather)
    .addHelpText('after', '\nExample:\n  $ cpctl projects create shop --environment production,staging')
    .action((name: string, options: CreateOptions, command: Command) => create(start(command), name, options))
  const of = (name: string, description: string) => projects.command(name).description(description).argument('<project>', 'Name or id')
  of('show', 'Show a project with its environments')
    .alias('get')
    .action((name: string, _: unknown, command: Command) => show(start(command), name))
  of('rename', 'Rename a project')
    .argument('<name>', 'Its new name')
    .action((project: string, name: string, _: unknown, command: Command) => rename(start(command), project, name))
  addCopyCommand(projects, start)
  of('delete', 'Delete a project whose environments are empty')
    .alias('rm')
    .option('-y, --yes', 'Do not ask')
    .action((name: string, options: { yes?: boolean }, command: Command) => remove(start(command), name, options.yes === true))
}

interface Row {
  project: Project
  environments: Environment[]
}

async function list(context: Context): Promise<void> {
  const [page, environments] = await Promise.all([projectsOf(context), context.isJson ? [] : environmentsOf(context)])
  const columns: Column<Row>[] = [
    { title: 'NAME', value: ({ project }) => project.name, isFlexible: true, colour: () => 'bold' },
    { title: 'ENVIRONMENTS', value: (row) => row.environments.map(({ name }) => name).join(', ') || '-', isFlexible: true },
    { title: 'SERVICES', value: (row) => String(row.environments.flatMap(({ serviceIds }) => serviceIds).length), align: 'right' },
    { title: 'UPDATED', value: ({ project }) => ago(project.updatedAt, context.io.now()) },
    { title: 'ID', value: ({ project }) => project.id },
  ]
  const row = (project: Project) => ({ project, environments: environments.filter(({ projectId }) => projectId === project.id) })
  const empty = 'No projects yet. Make one with cpctl projects create <name> --environment production,staging.'
  printList(context, { page, row, columns, empty })
}

interface CreateOptions {
  environment?: string[]
}

async function create(context: Context, name: string, { environment = [] }: CreateOptions): Promise<void> {
  if (name.includes('/')) throw usageError('The name of a project holds no slash.', `For an environment: cpctl environments create ${name}`)
  const environments = [...new Set(environment)].map((each) => ({ name: each }))
  const project = await context.client.call('createProject', { body: { name, environments } })
  if (context.isJson) return context.printJson(project)
  const having = environments.length === 0 ? '' : ` with ${environments.map((each) => each.name).join(', ')}`
  context.print(clean`Created ${project.name} (${project.id})${having}.`)
  if (environments.length === 0)
    context.note(clean`Services stand in its environments: cpctl environments create ${project.name}/production`)
}

async function show(context: Context, nameOrId: string): Promise<void> {
  const project = await resolveProject(context, nameOrId)
  if (context.isJson) return context.printJson(project)
  const environments = await environmentsOf(context, project.id)
  const fields: [string, string][] = [
    ['Name', project.name],
    ['Id', project.id],
    ['Workspace', project.owner.name],
    ['Created', project.createdAt],
    ['Updated', project.updatedAt],
  ]
  context.io.stdout.write(formatFields(fields, context.paint))
  if (environments.length === 0)
    return context.note(clean`It has no environments: cpctl environments create ${project.name}/<name> makes one.`)
  context.io.stdout.write('\n')
  const rows = environments.map((environment) => ({ project, environment }))
  printTable(context, environmentColumns, rows)
}

async function rename(context: Context, nameOrId: string, name: string): Promise<void> {
  const before = await resolveProject(context, nameOrId)
  const project = await context.client.call('updateProject', { params: { projectId: before.id }, body: { name } })
  if (context.isJson) return context.printJson(project)
  context.print(clean`${before.name} is named ${project.name} now.`)
}

async function remove(context: Context, nameOrId: string, isConfirmed: boolean): Promise<void> {
  const project = await resolveProject(context, nameOrId)
  await confirmByName(context, project.name, isConfirmed)
  await context.client.call('deleteProject', { params: { projectId: project.id } })
  if (!context.isJson) context.print(clean`Deleted ${project.name}.`)
}
