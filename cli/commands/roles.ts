import type { Command } from 'commander'
import type { Permission } from '../../shared/permission.ts'
import type { Role, RolePatch } from '../../shared/role.ts'
import { allPages } from '../api/pages.ts'
import { usageError } from '../base/error.ts'
import { present } from '../base/present.ts'
import { checkedPermissions, resolveRole } from '../finding/roles.ts'
import { gather } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import { confirmByName } from '../session/prompt.ts'
import { type Column, formatFields } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'

export function addRoleCommands(program: Command, start: Start): void {
  const roles = program.command('roles').description('Roles of the workspace')
  const of = (name: string, description: string) => roles.command(name).description(description).argument('<role>', 'Name or id')
  roles
    .command('list')
    .alias('ls')
    .description('List roles and what they may do')
    .action((_: unknown, command: Command) => list(start(command)))
  of('show', 'Show a role and what it may do').action((role: string, _: unknown, command: Command) => show(start(command), role))
  roles
    .command('create')
    .description('Create a role')
    .argument('<name>', 'Name of the role')
    .option('--permission <permission>', 'What it may do; several comma-joined or repeated', gather)
    .option('--like <role>', 'Begin with what this role may do')
    .option('--description <text>', 'What it is for')
    .action((name: string, options: CreateOptions, command: Command) => create(start(command), name, options))
  of('update', 'Change a role for everyone who holds it, at once')
    .option('--name <name>', 'New name; who holds it holds it under the new one')
    .option('--description <text>', 'What it is for')
    .option('--permission <permission>', 'All it may do from now on; several comma-joined or repeated', gather)
    .option('--add <permission>', 'What it may do as well', gather)
    .option('--remove <permission>', 'What it may do no longer', gather)
    .action((role: string, options: UpdateOptions, command: Command) => update(start(command), role, options))
  of('delete', 'Delete a role that nobody holds')
    .option('-y, --yes', 'Do not ask')
    .action((role: string, options: { yes?: boolean }, command: Command) => remove(start(command), role, options.yes === true))
  program
    .command('permissions')
    .description('List what roles can allow')
    .action((_: unknown, command: Command) => listPermissions(start(command)))
}

const columns: Column<Role>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'KIND', value: kindOf },
  { title: 'PERMISSIONS', value: ({ permissions }) => permissions.join(' '), isFlexible: true },
]

function kindOf({ builtIn }: Role): string {
  return builtIn ? 'built-in' : 'custom'
}

async function list(context: Context): Promise<void> {
  const page = await allPages((query) => context.client.call('listRoles', { query }))
  printList(context, { page, row: ({ role }) => role, columns, empty: 'There are no roles.' })
}

async function show(context: Context, nameOrId: string): Promise<void> {
  const role = await resolveRole(context, nameOrId)
  if (context.isJson) return context.printJson(role)
  const fields: [string, string | undefined][] = [
    ['Name', role.name],
    ['Id', role.id],
    ['Kind', kindOf(role)],
    ['Description', role.description],
    ['Created', role.builtIn ? undefined : role.createdAt],
    ['Updated', role.builtIn ? undefined : role.updatedAt],
  ]
  context.io.stdout.write(formatFields(fields, context.paint))
  context.print('May:')
  for (const permission of role.permissions) context.print(clean`  ${permission}`)
}

interface CreateOptions {
  permission?: string[]
  like?: string
  description?: string
}

async function create(context: Context, name: string, { permission = [], like, description }: CreateOptions): Promise<void> {
  const given = await checkedPermissions(context, permission)
  const model = like === undefined ? [] : (await resolveRole(context, like)).permissions
  const permissions = [...new Set([...model, ...given])]
  if (permissions.length === 0)
    throw usageError('A role needs something it may do.', 'Give --permission or --like <role>; cpctl permissions lists what can be given.')
  const role = await context.client.call('createRole', { body: { name, permissions, ...present({ description }) } })
  if (context.isJson) context.printJson(role)
  else context.print(clean`Created ${role.name} (${role.id}) with ${countOf(role.permissions)}.`)
}

interface UpdateOptions {
  name?: string
  description?: string
  permission?: string[]
  add?: string[]
  remove?: string[]
}

async function update(context: Context, nameOrId: string, options: UpdateOptions): Promise<void> {
  if (options.permission !== undefined && (options.add !== undefined || options.remove !== undefined))
    throw usageError('--permission tells all that the role may do.', 'Leave it out to --add and --remove some.')
  const role = await resolveRole(context, nameOrId)
  const permissions = await changedPermissions(context, role, options)
  const body: RolePatch = present({ name: options.name, description: options.description, permissions })
  if (Object.keys(body).length === 0) throw usageError('Nothing to change was given.', 'Run cpctl roles update --help for what can be.')
  const updated = await context.client.call('updateRole', { params: { roleId: role.id }, body })
  if (context.isJson) context.printJson(updated)
  else context.print(clean`Updated ${updated.name}: ${countOf(updated.permissions)}, for everyone who holds it from their next request on.`)
}

async function changedPermissions(
  context: Context,
  role: Role,
  { permission, add = [], remove: dropped = [] }: UpdateOptions,
): Promise<Permission[] | undefined> {
  const given = await checkedPermissions(context, [...(permission ?? []), ...add, ...dropped])
  if (permission !== undefined) return given
  if (add.length + dropped.length === 0) return undefined
  const left = [...new Set([...role.permissions, ...given])].filter((name) => !dropped.includes(name))
  if (left.length === 0) throw usageError('Nothing would be left that the role may do.', 'Delete it instead: cpctl roles delete.')
  return left
}

async function remove(context: Context, nameOrId: string, isConfirmed: boolean): Promise<void> {
  const role = await resolveRole(context, nameOrId)
  await confirmByName(context, role.name, isConfirmed)
  await context.client.call('deleteRole', { params: { roleId: role.id } })
  if (!context.isJson) context.print(clean`Deleted ${role.name}.`)
}

interface PermissionRow {
  name: string
  description: string
}

const permissionColumns: Column<PermissionRow>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'ALLOWS', value: ({ description }) => description, isFlexible: true },
]

async function listPermissions(context: Context): Promise<void> {
  const page = await context.client.call('listPermissions')
  printList(context, { page, row: (entry): PermissionRow => entry, columns: permissionColumns, empty: 'There are no permissions.' })
}

const countOf = ({ length }: readonly string[]): string => `${length} permission${length === 1 ? '' : 's'}`
