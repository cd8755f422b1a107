import { isId } from '../../shared/id.ts'
import type { TeamMember } from '../../shared/team.ts'
import { allPages } from '../api/pages.ts'
import { CliError } from '../base/error.ts'
import type { Context } from '../session/context.ts'

export const membersOf = (context: Context) => allPages((query) => context.client.call('listTeamMembers', { query }))

/** The member of this address or id. @throws CliError when there is none. */
export async function resolveMember(context: Context, idOrEmail: string): Promise<TeamMember> {
  const wanted = idOrEmail.toLowerCase()
  const found = (await membersOf(context)).find(({ teamMember: { id, email } }) => id === idOrEmail || email.toLowerCase() === wanted)
  if (found === undefined) throw new CliError('not_found', `There is no member ${idOrEmail}.`, { hint: 'cpctl team list shows them.' })
  return found.teamMember
}

/** The id of a member, or an id as it stands: the operator helps accounts that are members of nothing any more. */
export async function resolveAccount(context: Context, idOrEmail: string): Promise<{ id: string; email: string }> {
  return isId('user', idOrEmail) ? { id: idOrEmail, email: idOrEmail } : resolveMember(context, idOrEmail)
}
