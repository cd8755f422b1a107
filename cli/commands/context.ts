import type { Command } from 'commander'
import { nearest } from '../../shared/nearest.ts'
import { CliError, usageError } from '../base/error.ts'
import type { Context, Start } from '../session/context.ts'
import {
  type Credentials,
  findLogin,
  type NamedContext,
  readCredentials,
  withLogin,
  withoutLogin,
  writeCredentials,
} from '../session/credentials.ts'
import { printTable } from '../session/output.ts'
import type { Column } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'
import { forgetLogin } from './account.ts'

export function addContextCommands(program: Command, start: Start): void {
  const contexts = program.command('context').alias('contexts').description('Logins to servers, by name, and which one commands use')
  contexts
    .command('list')
    .alias('ls')
    .description('List the stored logins')
    .action((_: unknown, command: Command) => list(start(command)))
  contexts
    .command('use')
    .description('Have the following commands use a login')
    .argument('<name>', 'Name of the context')
    .action((name: string, _: unknown, command: Command) => use(start(command), name))
  contexts
    .command('rename')
    .description('Give a login another name')
    .argument('<name>', 'Name of the context')
    .argument('<new-name>', 'Its new name')
    .action((name: string, newName: string, _: unknown, command: Command) => rename(start(command), name, newName))
  contexts
    .command('remove')
    .alias('rm')
    .description('Log out of a server and forget its context')
    .argument('<name>', 'Name of the context')
    .action((name: string, _: unknown, command: Command) => remove(start(command), name))
}

interface Row extends NamedContext {
  name: string
  isCurrent: boolean
}

const columns: Column<Row>[] = [
  { title: 'NAME', value: ({ name, isCurrent }) => (isCurrent ? `${name} *` : name), colour: () => 'bold' },
  { title: 'SERVER', value: ({ url }) => url, isFlexible: true },
  { title: 'ACCOUNT', value: ({ credential }) => ('email' in credential ? credential.email : '-'), isFlexible: true },
  { title: 'WORKSPACE', value: ({ credential }) => credential.workspaceId ?? '-' },
]

async function list(context: Context): Promise<void> {
  const stored = await readCredentials(context.settings.credentialsPath)
  const rows = Object.entries(stored.contexts).map(([name, login]) => ({ name, ...login, isCurrent: name === stored.current }))
  if (context.isJson)
    return context.printJson(
      rows.map(({ name, url, credential, isCurrent }) => ({
        name,
        url,
        kind: credential.kind,
        workspaceId: credential.workspaceId,
        isCurrent,
      })),
    )
  if (rows.length === 0) return context.note('No logins yet. Run cpctl login --url <url>.')
  printTable(context, columns, rows)
}

async function use(context: Context, name: string): Promise<void> {
  const { path, stored, login } = await openContext(context, name)
  await writeCredentials(path, { ...stored, current: name })
  if (context.isJson) return context.printJson({ name, url: login.url })
  context.print(clean`Commands use ${name} now (${login.url}).`)
  if (context.settings.url !== undefined) context.note('CPCTL_URL is set and wins over it until it is unset.')
}

async function rename(context: Context, name: string, newName: string): Promise<void> {
  if (!/^[\w.:-]{1,100}$/.test(newName)) throw usageError(`${newName} is no name of a context.`, 'Use letters, digits and . _ : -')
  const { path, stored, login } = await openContext(context, name)
  if (newName !== name && newName in stored.contexts) throw new CliError('conflict', `There is a context ${newName} already.`)
  const renamed = withLogin(withoutLogin(stored, name), newName, { url: login.url, credential: login.credential })
  await writeCredentials(path, stored.current === name ? { ...renamed, current: newName } : renamed)
  if (context.isJson) return context.printJson({ name: newName, url: login.url })
  context.print(clean`${name} is called ${newName} now.`)
}

async function remove(context: Context, name: string): Promise<void> {
  const { login } = await openContext(context, name)
  await forgetLogin(context, login)
  if (!context.isJson) context.print(clean`Logged out of ${login.url}; ${name} is forgotten.`)
}

interface OpenContext {
  path: string
  stored: Credentials
  login: NamedContext & { name: string }
}

async function openContext(context: Context, name: string): Promise<OpenContext> {
  const path = context.settings.credentialsPath
  const stored = await readCredentials(path)
  const login = findLogin(stored, { name })
  if (login !== undefined) return { path, stored, login }
  const meant = nearest(name, Object.keys(stored.contexts))
  throw new CliError('not_found', `There is no context ${name}.${meant === undefined ? '' : ` Did you mean ${meant}?`}`, {
    hint: 'cpctl context list shows them.',
  })
}
