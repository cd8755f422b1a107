import type { SourceHostInstallation, SourceHostStatus } from '../../shared/source-host.ts'
import { pollUntil } from '../api/poll.ts'
import { CliError } from '../base/error.ts'
import type { Context } from '../session/context.ts'
import { ask, piped } from '../session/prompt.ts'
import { clean } from '../terminal/text.ts'

const MAX_WAIT_MS = 15 * 60_000

export async function connectByBrowser({ client, io, note }: Context): Promise<SourceHostInstallation> {
  const before = await client.call('getGithubStatus')
  const page = before.providers[0]?.connectUrl ?? ''
  note(clean`Open this page:\n\n  ${page}\n`)
  note(io.openBrowser(page) ? 'It was opened in your browser. Waiting ...' : 'Waiting ...')
  const endsAt = performance.now() + MAX_WAIT_MS
  const after = await pollUntil(before, {
    ask: () => client.call('getGithubStatus'),
    isOver: (seen) => newIn(seen, before) !== undefined || performance.now() > endsAt,
    interrupted: io.interrupted,
  })
  const connected = newIn(after, before)
  if (connected !== undefined) return connected
  throw new CliError('conflict', 'No account was connected in time.', { hint: 'cpctl sourcehost status shows those that are.' })
}

const newIn = ({ installations }: SourceHostStatus, before: SourceHostStatus): SourceHostInstallation | undefined =>
  installations.find(({ id }) => before.installations.every((earlier) => earlier.id !== id))

export async function connectByToken(context: Context, isPiped: boolean): Promise<SourceHostInstallation> {
  const token = isPiped ? await piped(context, '--token-stdin') : await askForToken(context)
  return context.client.call('connectGitea', { body: { token: token.trim() } })
}

async function askForToken(context: Context): Promise<string> {
  const { url } = await context.client.call('getGiteaInstall')
  context.note(clean`Make an access token with the scopes read:user and write:repository; ${url} leads to where.`)
  return ask(context, { text: 'Access token: ', isHidden: true, instead: 'Give --token-stdin.' })
}
