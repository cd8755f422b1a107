import { Argument, type Command } from 'commander'
import {
  type Repository,
  type SourceHostInstallation,
  type SourceHostName,
  sourceHostNames,
  sourceHostTitles,
} from '../../shared/source-host.ts'
import { CliError } from '../base/error.ts'
import type { Context, Start } from '../session/context.ts'
import { printList, printTable } from '../session/output.ts'
import { confirmByName } from '../session/prompt.ts'
import { cloneUrlOf } from '../source-hosts/clone-url.ts'
import { connectByBrowser, connectByToken } from '../source-hosts/connect.ts'
import { repositoriesOfAll } from '../source-hosts/repositories.ts'
import type { Column } from '../terminal/table.ts'
import { clean, cleanText } from '../terminal/text.ts'

const examples = `
Examples:
  $ cpctl sourcehost connect github          # opens the page that makes the app, then the one that chooses repositories
  $ cpctl sourcehost connect gitea           # asks for an access token
  $ cpctl sourcehost repos shop`

export function addSourceHostCommands(program: Command, start: Start): void {
  const hosts = program.command('sourcehost').alias('sourcehosts').description('Source hosts: GitHub, Gitea and Forgejo')
  hosts.addHelpText('after', examples)
  hosts
    .command('status')
    .description('Show what is configured, and which accounts the workspace is connected to')
    .action((_: unknown, command: Command) => status(start(command)))
  hosts
    .command('connect')
    .description('Connect an account, to deploy its repositories')
    .addArgument(new Argument('<host>', 'Where the account is').choices(sourceHostNames))
    .option('--token-stdin', 'Gitea: read the access token from standard input')
    .action((host: SourceHostName, options: ConnectOptions, command: Command) => connect(start(command), host, options))
  hosts
    .command('repos')
    .description('List repositories that the workspace is let into')
    .argument('[search]', 'Part of owner/name')
    .action((search: string | undefined, _: unknown, command: Command) => repos(start(command), search))
  hosts
    .command('url')
    .description('Print the URL that a repository is cloned from')
    .argument('<repository>', 'owner/name')
    .action(async (name: string, _: unknown, command: Command) => printUrl(start(command), name))
  hosts
    .command('disconnect')
    .description('Disconnect an account')
    .argument('<account>', 'Login at the host, or id')
    .option('-y, --yes', 'Do not ask')
    .action((account: string, options: { yes?: boolean }, command: Command) => disconnect(start(command), account, options.yes === true))
}

const accountColumns: Column<SourceHostInstallation>[] = [
  { title: 'ACCOUNT', value: ({ account }) => account, colour: () => 'bold' },
  { title: 'HOST', value: ({ url }) => url, isFlexible: true },
  {
    title: 'STATE',
    value: ({ problem }) => problem ?? 'connected',
    isFlexible: true,
    colour: ({ problem }) => (problem === undefined ? undefined : 'yellow'),
  },
  { title: 'ID', value: ({ id }) => id },
]

async function status(context: Context): Promise<void> {
  const seen = await context.client.call('getSourceHostStatus')
  if (context.isJson) return context.printJson(seen)
  for (const { name, configured, url } of seen.providers)
    context.note(configured ? clean`${sourceHostTitles[name]}: ${url}` : clean`${sourceHostTitles[name]}: not configured`)
  if (seen.installed) printTable(context, accountColumns, seen.installations)
  else context.note('No account is connected. Connect one with cpctl sourcehost connect <host>.')
}

interface ConnectOptions {
  tokenStdin?: boolean
}

async function connect(context: Context, host: SourceHostName, { tokenStdin }: ConnectOptions): Promise<void> {
  const connected = host === 'gitea' ? await connectByToken(context, tokenStdin === true) : await connectByBrowser(context)
  if (context.isJson) context.printJson(connected)
  else context.print(clean`Connected to ${connected.account} at ${connected.url}.`)
}

const repositoryColumns: Column<Repository>[] = [
  { title: 'REPOSITORY', value: ({ name }) => name, isFlexible: true, colour: () => 'bold' },
  { title: 'BRANCH', value: ({ defaultBranch }) => defaultBranch },
  { title: 'ACCESS', value: (repository) => (repository.private ? 'private' : 'public') },
  { title: 'CLONE URL', value: ({ cloneUrl }) => cloneUrl, isFlexible: true },
]

async function repos(context: Context, search: string | undefined): Promise<void> {
  const page = await repositoriesOfAll(context, search)
  const empty = 'No repositories. cpctl sourcehost connect <host> lets the workspace into some.'
  printList(context, { page, row: ({ repo }) => repo, columns: repositoryColumns, empty })
}

async function printUrl(context: Context, name: string): Promise<void> {
  const cloneUrl = await cloneUrlOf(context, name)
  if (context.isJson) context.printJson({ cloneUrl })
  else context.print(cleanText(cloneUrl))
}

async function disconnect(context: Context, nameOrId: string, isConfirmed: boolean): Promise<void> {
  const { installations } = await context.client.call('getSourceHostStatus')
  const [found, other] = installations.filter(({ id, account }) => id === nameOrId || account === nameOrId)
  const hint = 'cpctl sourcehost status shows them.'
  if (found === undefined) throw new CliError('not_found', `No account ${nameOrId} is connected.`, { hint })
  if (other !== undefined) throw new CliError('conflict', `Several accounts are named ${nameOrId}.`, { hint: `Give the id: ${hint}` })
  await confirmByName(context, found.account, isConfirmed)
  await context.client.call('disconnectSourceHost', { params: { installationId: found.id } })
  if (!context.isJson) context.print(clean`Disconnected ${found.account}.`)
}
