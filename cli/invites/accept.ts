import { sessionIn } from '../api/session-cookie.ts'
import { CliError, usageError } from '../base/error.ts'
import { present } from '../base/present.ts'
import { type Context, currentServer } from '../session/context.ts'
import {
  type Credential,
  findLogin,
  freeNameFor,
  isPersonal,
  readCredentials,
  withLogin,
  writeCredentials,
} from '../session/credentials.ts'
import { clientWith } from '../session/login.ts'
import { withCode } from '../session/one-time-code.ts'
import { ask } from '../session/prompt.ts'
import { clean } from '../terminal/text.ts'
import { inviteIn } from './link.ts'

export interface InvitedAccount {
  name?: string
  passwordStdin?: boolean
  otp?: string
}

/** Accepts as the user who is logged in; else with a new account, or one that is in no workspace, and that one is logged in then. */
export async function acceptInvite(context: Context, link: string, account: InvitedAccount): Promise<void> {
  const invite = inviteIn(link)
  const { url: current, credential } = await currentServer(context)
  const url = context.givenUrl ?? invite.url ?? current
  const isGiven = account.name !== undefined || account.passwordStdin === true
  if (credential !== undefined && url === current && !isGiven) await acceptAsUser(context, credential, invite.token)
  else await acceptByPassword(context, { url, token: invite.token }, account)
}

/** Who they are is not asked first: somebody who is in no workspace yet, or no more, accepts as well. */
async function acceptAsUser(context: Context, credential: Credential, token: string): Promise<void> {
  const accepting = context.client.call('acceptTeamInvite', { body: { token } })
  const joined = await accepting.catch((error: unknown) => {
    if (isPersonal(credential) || !(error instanceof CliError) || error.code !== 'forbidden') throw error
    throw usageError(
      'An API key or token accepts no invite.',
      'Log in as the invited user with cpctl login --device, or give --name and --password-stdin for a new account.',
    )
  })
  if (context.isJson) return context.printJson(joined)
  context.print(clean`You are in ${joined.workspace.name} now.`)
  context.note(clean`To act in it: cpctl workspaces use ${joined.workspace.id}`)
}

async function acceptByPassword(context: Context, { url, token }: { url: string; token: string }, account: InvitedAccount): Promise<void> {
  const instead = 'Give --name and --password-stdin, or log in first with cpctl login.'
  const name = account.name ?? (await ask(context, { text: 'Your name:', instead })).trim()
  const password = account.passwordStdin
    ? (await context.io.stdin.text()).replace(/\r?\n$/, '')
    : await ask(context, { text: 'A new password, or yours if you have an account here:', isHidden: true, instead })
  const response = await withCode(context, account.otp, (otp) =>
    clientWith(context, url).respond('acceptTeamInvite', { body: { token, name, password, ...present({ otp }) } }),
  )
  const session = sessionIn(response.headers)
  if (session === undefined) throw new CliError('internal', `${url} opened no session.`, { hint: 'Log in with cpctl login.' })
  const { user, workspace } = (await response.json()) as { user: { email: string }; workspace: { name: string } }
  const path = context.settings.credentialsPath
  const stored = await readCredentials(path)
  const key = findLogin(stored, { url })?.name ?? freeNameFor(stored, url)
  const login = { url, credential: { kind: 'session' as const, token: session, email: user.email } }
  await writeCredentials(path, { ...withLogin(stored, key, login), current: key })
  if (context.isJson) return context.printJson({ user, workspace })
  context.print(clean`You are in ${workspace.name} now, and logged in to ${url} as ${user.email}.`)
}
