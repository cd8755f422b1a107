import type { Command } from 'commander'
import type { Session } from '../../shared/account.ts'
import { clientName } from '../../shared/client-name.ts'
import { asOneself, type OwnAccountOptions, withOwnAccountOptions } from '../accounts/own-account.ts'
import { allPages } from '../api/pages.ts'
import { usageError } from '../base/error.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import type { Column } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'

interface RevokeOptions extends OwnAccountOptions {
  allOthers?: boolean
}

export function addSessionCommands(program: Command, start: Start): void {
  const sessions = program.command('sessions').description('Where you are signed in')
  withOwnAccountOptions(sessions.command('list').alias('ls').description('List your sessions')).action(
    (options: OwnAccountOptions, command: Command) => list(start(command), options),
  )
  withOwnAccountOptions(sessions.command('revoke').description('Sign a session out at once').argument('[session]', 'Id'))
    .option('--all-others', 'All but the one in use')
    .action((session: string | undefined, options: RevokeOptions, command: Command) => revoke(start(command), session, options))
}

const columns: Column<Session>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'KIND', value: ({ kind, isCurrent }) => (isCurrent ? `${kind} (this one)` : kind) },
  { title: 'CLIENT', value: ({ client }) => clientName(client), isFlexible: true },
  { title: 'ADDRESS', value: ({ address }) => address },
  { title: 'LAST SEEN', value: ({ lastSeenAt }) => lastSeenAt },
  { title: 'ENDS', value: ({ expiresAt }) => expiresAt },
]

const list = (context: Context, options: OwnAccountOptions): Promise<void> =>
  asOneself(context, options, async ({ client }) => {
    const page = await allPages((query) => client.call('listSessions', { query }))
    printList(context, { page, row: ({ session }) => session, columns, empty: 'You are signed in nowhere.' })
  })

async function revoke(context: Context, sessionId: string | undefined, options: RevokeOptions): Promise<void> {
  if ((sessionId === undefined) === (options.allOthers !== true)) {
    throw usageError('Name one session, or give --all-others.', 'cpctl sessions list shows them.')
  }
  await asOneself(context, options, async ({ client }) => {
    if (sessionId === undefined) await client.call('endOtherSessions')
    else await client.call('endSession', { params: { sessionId } })
  })
  if (context.isJson) return context.printJson({})
  context.print(sessionId === undefined ? 'Every other session has ended.' : clean`The session ${sessionId} has ended.`)
}
