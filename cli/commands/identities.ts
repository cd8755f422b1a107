import type { Command } from 'commander'
import type { Identity } from '../../shared/oauth.ts'
import { asOneself, type OwnAccountOptions, withOwnAccountOptions } from '../accounts/own-account.ts'
import { CliError } from '../base/error.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import type { Column } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'

export function addIdentityCommands(account: Command, start: Start): void {
  const identities = account.command('identities').description('Accounts of providers that you sign in with')
  withOwnAccountOptions(identities.command('list').alias('ls').description('List them; they are linked on your account page')).action(
    (options: OwnAccountOptions, command: Command) => list(start(command), options),
  )
  withOwnAccountOptions(
    identities.command('unlink').description('Sign in with one no longer').argument('<provider>', 'github, google or apple'),
  ).action((provider: string, options: OwnAccountOptions, command: Command) => unlink(start(command), provider, options))
}

const columns: Column<Identity>[] = [
  { title: 'PROVIDER', value: ({ provider }) => provider },
  { title: 'E-MAIL', value: ({ email }) => email ?? '', isFlexible: true },
  { title: 'ISSUER', value: ({ issuer }) => issuer, isFlexible: true },
  { title: 'LINKED', value: ({ createdAt }) => createdAt },
]

const list = (context: Context, options: OwnAccountOptions): Promise<void> =>
  asOneself(context, options, async ({ client }) => {
    const page = await client.call('listIdentities', { query: {} })
    const empty = 'No account of a provider is linked to yours. Link one in the browser, on your account page.'
    printList(context, { page, row: ({ identity }) => identity, columns, empty })
  })

const unlink = (context: Context, provider: string, options: OwnAccountOptions): Promise<void> =>
  asOneself(context, options, async ({ client }) => {
    await client.call('unlinkIdentity', { params: { provider } }).catch((error: unknown) => {
      if (!(error instanceof CliError) || error.code !== 'not_found') throw error
      throw new CliError('not_found', error.message, { hint: 'cpctl account identities list shows those that are.' })
    })
    if (context.isJson) return context.printJson({})
    context.print(clean`Signing in with ${provider} is over for your account.`)
  })
