import type { Command } from 'commander'
import { isId } from '../../shared/id.ts'
import type { QuotaPatch } from '../../shared/quota.ts'
import type { Owner } from '../../shared/workspace.ts'
import { addQuotaOptions, quotaColumns, quotaPatchOf } from '../accounts/quotas.ts'
import { clientOfNone, forgetWorkspace, ownersOf, rememberWorkspace, resolveWorkspace } from '../accounts/workspaces.ts'
import { CliError, usageError } from '../base/error.ts'
import { type Context, currentServer, type Start } from '../session/context.ts'
import { printList, printTable } from '../session/output.ts'
import { confirmByName } from '../session/prompt.ts'
import { type Column, formatFields } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'

export function addWorkspaceCommands(program: Command, start: Start): void {
  const workspaces = program.command('workspaces').description('Workspaces: whose services, keys and people belong together')
  workspaces
    .command('list')
    .alias('ls')
    .description('List your workspaces')
    .action((_: unknown, command: Command) => list(start(command)))
  workspaces
    .command('show')
    .description('Show the workspace in use, and what it may have')
    .action((_: unknown, command: Command) => show(start(command)))
  workspaces
    .command('use')
    .description('Have the following commands act in another workspace')
    .argument('<workspace>', 'Name or id')
    .action((workspace: string, _: unknown, command: Command) => use(start(command), workspace))
  workspaces
    .command('create')
    .description('Create a workspace of which you are the administrator')
    .argument('<name>', 'Its name')
    .action((name: string, _: unknown, command: Command) => create(start(command), name))
  workspaces
    .command('rename')
    .description('Rename the workspace in use')
    .argument('<name>', 'Its new name')
    .action((name: string, _: unknown, command: Command) => change(start(command), { name }))
  workspaces
    .command('require-two-factor')
    .description('Let in only members with a second factor, or everybody again')
    .argument('<on|off>', 'Whether a second factor is required')
    .action((text: string, _: unknown, command: Command) => change(start(command), { requiresTwoFactor: isOn(text) }))
  addQuotaOptions(
    workspaces
      .command('quota')
      .description('Set what a workspace may have, as the operator: in the workspace of the first start')
      .argument('<workspace>', 'Id of any workspace, or name of one of yours'),
  ).action((workspace: string, options: Parameters<typeof quotaPatchOf>[0], command: Command) =>
    setQuotas(start(command), workspace, quotaPatchOf(options)),
  )
  workspaces
    .command('delete')
    .alias('rm')
    .description('Delete a workspace with everything in it')
    .argument('<workspace>', 'Name or id')
    .option('-y, --yes', 'Do not ask')
    .action((workspace: string, options: { yes?: boolean }, command: Command) => remove(start(command), workspace, options.yes === true))
}

const columns: Column<Owner & { isInUse: boolean }>[] = [
  { title: '', value: ({ isInUse }) => (isInUse ? '*' : ' ') },
  { title: 'NAME', value: ({ name }) => name, isFlexible: true },
  { title: 'E-MAIL', value: ({ email }) => email },
  { title: 'ID', value: ({ id }) => id },
]

async function list(context: Context): Promise<void> {
  const page = await ownersOf(context)
  const inUse = context.isJson || page.length === 0 ? undefined : await workspaceInUse(context)
  const empty = 'You are in no workspace. Ask for an invite.'
  printList(context, { page, row: ({ owner }) => ({ ...owner, isInUse: owner.id === inUse }), columns, empty })
}

/** Undefined where that is a workspace the caller is in no more. */
async function workspaceInUse(context: Context): Promise<string | undefined> {
  try {
    return (await context.client.call('me')).workspace.id
  } catch (error) {
    if (error instanceof CliError && error.code === 'not_found') return undefined
    throw error
  }
}

async function show(context: Context): Promise<void> {
  const { workspace: inUse } = await context.client.call('me')
  const workspace = await context.client.call('getWorkspace', { params: { ownerId: inUse.id } })
  const quotas = await context.client.call('listQuotas', { params: { ownerId: inUse.id } })
  if (context.isJson) return context.printJson({ ...workspace, quotas })
  const fields: [string, string][] = [
    ['Name', workspace.name],
    ['Id', workspace.id],
    ['E-mail', workspace.email],
    ['Two-factor', workspace.requiresTwoFactor ? 'required of every member' : 'up to each member'],
    ['Created', workspace.createdAt],
  ]
  context.io.stdout.write(`${formatFields(fields, context.paint)}\n`)
  printTable(context, quotaColumns, quotas)
}

async function setQuotas(context: Context, nameOrId: string, body: QuotaPatch): Promise<void> {
  if (Object.keys(body).length === 0) throw usageError('No quota was given.', 'For example: cpctl workspaces quota tea-… --services 100')
  // The operator need not be in it.
  const workspaceId = isId('workspace', nameOrId) ? nameOrId : (await resolveWorkspace(context, nameOrId)).id
  const quotas = await context.client.call('setQuotas', { params: { workspaceId }, body })
  if (context.isJson) return context.printJson(quotas)
  printTable(context, quotaColumns, quotas)
}

async function use(context: Context, nameOrId: string): Promise<void> {
  const { actor } = await (await clientOfNone(context)).call('me')
  const workspace = actor.type === 'user' ? await resolveWorkspace(context, nameOrId) : undefined
  if (workspace === undefined || !(await rememberWorkspace(context, workspace.id)))
    throw usageError(
      'An API key or token belongs to one workspace, and so does what is done with it.',
      'Log in as a user with cpctl login --device, or use a key of the other workspace.',
    )
  if (context.isJson) return context.printJson(workspace)
  const { url } = await currentServer(context)
  context.print(clean`Commands to ${url} act in ${workspace.name} now.`)
  if (context.settings.workspace !== undefined) context.note('CPCTL_WORKSPACE is set and wins over this until it is unset.')
}

async function create(context: Context, name: string): Promise<void> {
  const workspace = await context.client.call('createWorkspace', { body: { name } })
  if (context.isJson) return context.printJson(workspace)
  context.print(clean`Created ${workspace.name} (${workspace.id}).`)
  context.note(clean`To act in it: cpctl workspaces use ${workspace.id}`)
}

async function change(context: Context, body: { name?: string; requiresTwoFactor?: boolean }): Promise<void> {
  const { workspace: inUse } = await context.client.call('me')
  const workspace = await context.client.call('updateWorkspace', { params: { ownerId: inUse.id }, body })
  if (context.isJson) return context.printJson(workspace)
  if (body.name !== undefined) return context.print(clean`${inUse.name} is named ${workspace.name} now.`)
  context.print(
    workspace.requiresTwoFactor
      ? clean`${workspace.name} lets in only members with a second factor now.`
      : clean`${workspace.name} lets in members without a second factor, too.`,
  )
}

async function remove(context: Context, nameOrId: string, isConfirmed: boolean): Promise<void> {
  const { id, name } = await resolveWorkspace(context, nameOrId)
  if (!isConfirmed)
    context.note('Its services, disks with their snapshots, domains, logs, keys and members go at once and cannot be brought back.')
  await confirmByName(context, name, isConfirmed)
  await (await clientOfNone(context)).call('deleteWorkspace', { params: { ownerId: id }, query: { confirm: name } })
  await forgetWorkspace(context, id)
  if (!context.isJson) context.print(clean`Deleted ${name}. What ran in it is being stopped and removed.`)
}

function isOn(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw usageError(`"${text}" is neither on nor off.`)
  return text === 'on'
}
