import type { Command } from 'commander'
import type { Scope } from '../../shared/scope.ts'
import type { TeamMember } from '../../shared/team.ts'
import { forgetWorkspace } from '../accounts/workspaces.ts'
import { usageError } from '../base/error.ts'
import { membersOf, resolveMember } from '../finding/members.ts'
import { explainRole } from '../finding/roles.ts'
import { type ScopeOptions, scopeInWords, scopeOf, scopesInWords } from '../finding/scope.ts'
import { gather } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import { confirmByName } from '../session/prompt.ts'
import type { Column } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'
import { addHelpCommands } from './team-help.ts'

export function addTeamCommands(program: Command, start: Start): void {
  const team = program.command('team').description('Members of the workspace')
  team
    .command('list')
    .alias('ls')
    .description('List members and what they may do')
    .action((_: unknown, command: Command) => list(start(command)))
  const memberOf = (name: string, description: string) =>
    team.command(name).description(description).argument('<member>', 'E-mail address or id')
  memberOf('role', 'Give a member another role')
    .argument('<role>', 'Name of the role; cpctl roles list shows them')
    .action((member: string, role: string, _: unknown, command: Command) => changeRole(start(command), member, role))
  memberOf('scope', 'Confine a member to some services, environments or projects, or let them at the whole workspace')
    .argument('[service...]', 'Names or ids of services')
    .option('--environment <environment>', 'What is or will be in this environment, as project/environment or id', gather)
    .option('--project <project>', 'What is or will be in this project, by name or id', gather)
    .option('--all', 'The whole workspace')
    .action((member: string, service: string[], { all, ...places }: ScopeOptions & { all?: boolean }, command: Command) =>
      changeScope(start(command), member, { confining: { ...places, service }, isAll: all === true }),
    )
  addHelpCommands(team, start)
  memberOf('remove', 'Remove a member, and revoke their sessions and keys')
    .alias('rm')
    .option('-y, --yes', 'Do not ask')
    .action((member: string, options: { yes?: boolean }, command: Command) => remove(start(command), member, options.yes === true))
  team
    .command('leave')
    .description('Leave the workspace yourself')
    .option('-y, --yes', 'Do not ask')
    .action((options: { yes?: boolean }, command: Command) => leave(start(command), options.yes === true))
}

const columnsOf = (inWords: (scope: Scope) => string): Column<TeamMember>[] => [
  { title: 'E-MAIL', value: ({ email }) => email, isFlexible: true },
  { title: 'NAME', value: ({ name }) => name, isFlexible: true },
  { title: 'ROLE', value: ({ role }) => role },
  { title: 'SCOPE', value: ({ scope }) => inWords(scope), isFlexible: true },
  { title: 'TWO-FACTOR', value: ({ twoFactorEnabled }) => (twoFactorEnabled ? 'on' : 'off') },
  { title: 'LAST SEEN', value: ({ lastSeenAt }) => lastSeenAt ?? 'never' },
]

async function list(context: Context): Promise<void> {
  const page = await membersOf(context)
  const columns = columnsOf(
    await scopesInWords(
      context,
      page.map(({ teamMember }) => teamMember.scope),
    ),
  )
  printList(context, { page, row: ({ teamMember }) => teamMember, columns, empty: 'There are no members.' })
}

async function changeRole(context: Context, idOrEmail: string, role: string): Promise<void> {
  const { id } = await resolveMember(context, idOrEmail)
  const changing = context.client.call('updateTeamMember', { params: { memberId: id }, body: { role } })
  const member = await changing.catch((error: unknown) => explainRole(context, role, error))
  if (context.isJson) return context.printJson(member)
  context.print(clean`${member.email} has the role ${member.role} now.`)
}

async function changeScope(context: Context, idOrEmail: string, wanted: { confining: ScopeOptions; isAll: boolean }): Promise<void> {
  const isConfining = Object.values(wanted.confining).some((names) => names !== undefined && names.length > 0)
  if (wanted.isAll === isConfining)
    throw usageError('Name services, environments or projects, or give --all for the whole workspace.', 'Run cpctl team scope --help.')
  const { id } = await resolveMember(context, idOrEmail)
  const scope = (await scopeOf(context, wanted.confining)) ?? null
  const member = await context.client.call('updateTeamMember', { params: { memberId: id }, body: { scope } })
  if (context.isJson) return context.printJson(member)
  const where = scope === null ? 'the whole workspace' : await scopeInWords(context, scope)
  context.print(clean`${member.email} may be at ${where} now, as ${member.role}.`)
}

async function remove(context: Context, idOrEmail: string, isConfirmed: boolean): Promise<void> {
  const member = await resolveMember(context, idOrEmail)
  if (!isConfirmed) context.note('Their sessions end at once, and the API keys and invites they made here are revoked.')
  await confirmByName(context, member.email, isConfirmed)
  await context.client.call('removeTeamMember', { params: { memberId: member.id } })
  if (!context.isJson) context.print(clean`Removed ${member.email}.`)
}

async function leave(context: Context, isConfirmed: boolean): Promise<void> {
  const { workspace, actor } = await context.client.call('me')
  if (actor.type !== 'user')
    throw usageError('An API key or token is no member of the workspace.', 'Log in as the member with cpctl login --device.')
  if (!isConfirmed) context.note('The API keys and invites you made there are revoked, and only an invite lets you back in.')
  await confirmByName(context, workspace.name, isConfirmed)
  await context.client.call('leaveTeam')
  await forgetWorkspace(context, workspace.id)
  if (!context.isJson) context.print(clean`You left ${workspace.name}.`)
}
