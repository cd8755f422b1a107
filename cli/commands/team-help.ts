import type { Command } from 'commander'
import { resolveAccount } from '../finding/members.ts'
import type { Context, Start } from '../session/context.ts'
import { confirmByName } from '../session/prompt.ts'
import { clean } from '../terminal/text.ts'

export function addHelpCommands(team: Command, start: Start): void {
  team
    .command('reset-password')
    .description('Make a link with which a member sets a new password')
    .argument('<member>', 'E-mail address or id')
    .action((member: string, _: unknown, command: Command) => resetPassword(start(command), member))
  team
    .command('reset-two-factor')
    .description("Switch a member's second factor off, and end their sessions")
    .argument('<member>', 'E-mail address or id')
    .option('-y, --yes', 'Do not ask')
    .action((member: string, options: { yes?: boolean }, command: Command) => resetTwoFactor(start(command), member, options.yes === true))
}

/** The link alone goes to standard output, so that it can be piped to where it is sent. */
async function resetPassword(context: Context, idOrEmail: string): Promise<void> {
  const { id, email } = await resolveAccount(context, idOrEmail)
  const link = await context.client.call('resetMemberPassword', { params: { memberId: id } })
  if (context.isJson) return context.printJson(link)
  if (link.emailed) context.note(clean`A mail with the link is on its way to ${email}.`)
  if (link.url === undefined) return
  context.note(clean`Give this link to ${email}: it sets a new password, once, until ${link.expiresAt}.`)
  context.print(clean`${link.url}`)
}

async function resetTwoFactor(context: Context, idOrEmail: string, isConfirmed: boolean): Promise<void> {
  const { id, email } = await resolveAccount(context, idOrEmail)
  await confirmByName(context, email, isConfirmed)
  await context.client.call('resetMemberTwoFactor', { params: { memberId: id } })
  if (context.isJson) return context.printJson({})
  context.print(clean`${email} signs in with the password alone now.`)
}
