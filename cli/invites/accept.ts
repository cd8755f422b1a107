import { type Context, currentServer } from '../context.ts'
import { readCredentials, writeCredentials } from '../credentials.ts'
import { CliError, usageError } from '../error.ts'
import { clientWith } from '../login.ts'
import { ask } from '../prompt.ts'
import { sessionIn } from '../session-cookie.ts'
import { clean } from '../terminal-text.ts'
import { inviteIn } from './link.ts'

export interface NewAccount {
  name?: string
  passwordStdin?: boolean
}

/** Accepts an invite as the user who is logged in; where nobody is, with a new account, which is logged in with then. */
export async function acceptInvite(context: Context, link: string, account: NewAccount): Promise<void> {
  const invite = inviteIn(link)
  const { url: current, credential } = await currentServer(context)
  const url = context.givenUrl ?? invite.url ?? current
  const isLoggedIn = credential !== undefined && url === current
  if (isLoggedIn && account.name === undefined && account.passwordStdin !== true) await acceptAsUser(context, invite.token)
  else await acceptAsNew(context, { url, token: invite.token }, account)
}

async function acceptAsUser(context: Context, token: string): Promise<void> {
  const { actor } = await context.client.call('me')
  if (actor.type !== 'user')
    throw usageError(
      'An API key or token accepts no invite.',
      'Log in as the invited user with cpctl login, or give --name and --password-stdin for a new account.',
    )
  const joined = await context.client.call('acceptTeamInvite', { body: { token } })
  if (context.isJson) return context.printJson(joined)
  context.print(clean`You are in ${joined.workspace.name} now.`)
  context.note(clean`To act in it: cpctl workspaces use ${joined.workspace.id}`)
}

async function acceptAsNew(context: Context, { url, token }: { url: string; token: string }, account: NewAccount): Promise<void> {
  const instead = 'Give --name and --password-stdin, or log in first with cpctl login.'
  const name = account.name ?? (await ask(context, { text: 'Your name:', instead })).trim()
  const password = account.passwordStdin
    ? (await context.io.stdin.text()).replace(/\r?\n$/, '')
    : await ask(context, { text: 'A new password:', isHidden: true, instead })
  const response = await clientWith(context, url).respond('acceptTeamInvite', { body: { token, name, password } })
  const session = sessionIn(response.headers)
  if (session === undefined) throw new CliError('internal', `${url} opened no session.`, { hint: 'Log in with cpctl login.' })
  const { user, workspace } = (await response.json()) as { user: { email: string }; workspace: { name: string } }
  const path = context.settings.credentialsPath
  const stored = await readCredentials(path)
  const servers = { ...stored.servers, [url]: { kind: 'session' as const, token: session, email: user.email } }
  await writeCredentials(path, { ...stored, current: url, servers })
  if (context.isJson) return context.printJson({ user, workspace })
  context.print(clean`You are in ${workspace.name} now, and logged in to ${url} as ${user.email}.`)
}
