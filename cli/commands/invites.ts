import type { Command } from 'commander'
import type { Scope } from '../../shared/scope.ts'
import type { TeamInvite } from '../../shared/team.ts'
import { allPages } from '../api/pages.ts'
import { CliError } from '../base/error.ts'
import { present } from '../base/present.ts'
import { explainRole } from '../finding/roles.ts'
import { type ScopeOptions, scopeOf, scopesInWords } from '../finding/scope.ts'
import { acceptInvite, type InvitedAccount } from '../invites/accept.ts'
import { addScopeOptions } from '../options/scope.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import type { Column } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'

interface CreateOptions extends ScopeOptions {
  role: string
}

export function addInviteCommands(program: Command, start: Start): void {
  const invites = program.command('invites').description('Invites to the workspace')
  invites
    .command('list')
    .alias('ls')
    .description('List invites that were not accepted yet')
    .action((_: unknown, command: Command) => list(start(command)))
  const creating = invites
    .command('create')
    .description('Invite somebody; the link is printed once')
    .argument('<email>', 'E-mail address')
    .requiredOption('--role <role>', 'Role they get; cpctl roles list shows them')
  addScopeOptions(creating, 'them').action((email: string, options: CreateOptions, command: Command) =>
    create(start(command), email, options),
  )
  invites
    .command('delete')
    .alias('rm')
    .description('Take back an invite')
    .argument('<invite>', 'E-mail address or id')
    .action((invite: string, _: unknown, command: Command) => remove(start(command), invite))
  invites
    .command('accept')
    .description('Accept an invite: as the user who is logged in, else with a new account')
    .argument('<link>', 'The link of the invite, or its token')
    .option('--name <name>', 'Name of the new account')
    .option('--password-stdin', 'Read the password of the account from standard input')
    .option('--otp <code>', 'Code of the authenticator app, or a recovery code, for an account that has two-factor sign-in')
    .action((link: string, options: InvitedAccount, command: Command) => acceptInvite(start(command), link, options))
}

const columnsOf = (inWords: (scope: Scope) => string): Column<TeamInvite>[] => [
  { title: 'E-MAIL', value: ({ email }) => email, isFlexible: true },
  { title: 'ROLE', value: ({ role }) => role },
  { title: 'SCOPE', value: ({ scope }) => inWords(scope), isFlexible: true },
  { title: 'EXPIRES', value: ({ expiresAt }) => expiresAt },
  { title: 'ID', value: ({ id }) => id },
]

const invitesOf = (context: Context) => allPages((query) => context.client.call('listTeamInvites', { query }))

async function list(context: Context): Promise<void> {
  const empty = 'No invites are open. Make one with cpctl invites create <email> --role <role>.'
  const page = await invitesOf(context)
  const columns = columnsOf(
    await scopesInWords(
      context,
      page.map(({ teamInvite }) => teamInvite.scope),
    ),
  )
  printList(context, { page, row: ({ teamInvite }) => teamInvite, columns, empty })
}

/** The link alone goes to standard output, so that it can be piped to where it belongs. */
async function create(context: Context, email: string, { role, ...confining }: CreateOptions): Promise<void> {
  const scope = await scopeOf(context, confining)
  const inviting = context.client.call('createTeamInvite', { body: { email, role, ...present({ scope }) } })
  const invite = await inviting.catch((error: unknown) => explainRole(context, role, error))
  if (context.isJson) return context.printJson(invite)
  const mailed = invite.emailed ? 'The link was mailed to them' : 'No mail was sent: give them the link'
  context.note(clean`Invited ${invite.email} as ${invite.role}, until ${invite.expiresAt}. ${mailed}. It is not shown again.`)
  context.print(clean`${invite.acceptUrl}`)
}

async function remove(context: Context, idOrEmail: string): Promise<void> {
  const wanted = idOrEmail.toLowerCase()
  const found = (await invitesOf(context)).find(({ teamInvite: { id, email } }) => id === idOrEmail || email.toLowerCase() === wanted)
  if (found === undefined) throw new CliError('not_found', `There is no invite ${idOrEmail}.`, { hint: 'cpctl invites list shows them.' })
  const { id, email } = found.teamInvite
  await context.client.call('deleteTeamInvite', { params: { inviteId: id } })
  if (!context.isJson) context.print(clean`Took back the invite of ${email}.`)
}
