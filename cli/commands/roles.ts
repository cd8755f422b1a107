import type { Command } from 'commander'
import type { Role } from '../../shared/role.ts'
import type { Context, Start } from '../context.ts'
import { printList } from '../output.ts'
import { allPages } from '../pages.ts'
import type { Column } from '../table.ts'

export function addRoleCommands(program: Command, start: Start): void {
  const roles = program.command('roles').description('Roles of the workspace')
  roles
    .command('list')
    .alias('ls')
    .description('List roles and what they may do')
    .action((_: unknown, command: Command) => list(start(command)))
}

const columns: Column<Role>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'KIND', value: ({ builtIn }) => (builtIn ? 'built-in' : 'custom') },
  { title: 'PERMISSIONS', value: ({ permissions }) => permissions.join(' '), isFlexible: true },
]

async function list(context: Context): Promise<void> {
  const page = await allPages((query) => context.client.call('listRoles', { query }))
  printList(context, { page, row: ({ role }) => role, columns, empty: 'There are no roles.' })
}
