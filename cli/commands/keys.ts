import type { Command } from 'commander'
import type { ApiKey } from '../../shared/api-key.ts'
import type { Context, Start } from '../context.ts'
import { CliError } from '../error.ts'
import { printList } from '../output.ts'
import { present } from '../service-settings.ts'
import type { Column } from '../table.ts'
import { clean } from '../terminal-text.ts'

export function addKeyCommands(program: Command, start: Start): void {
  const keys = program.command('keys').description('API keys of the workspace')
  keys
    .command('list')
    .alias('ls')
    .description('List API keys')
    .action((_: unknown, command: Command) => list(start(command)))
  keys
    .command('create')
    .description('Create an API key; it is printed once')
    .argument('<name>', 'What it is for')
    .option('--role <role>', 'Role it has; default: developer, or yours where that may do less')
    .action((name: string, options: { role?: string }, command: Command) => create(start(command), name, options.role))
  keys
    .command('revoke')
    .description('Revoke an API key at once')
    .argument('<key>', 'Name or id')
    .action((key: string, _: unknown, command: Command) => revoke(start(command), key))
}

const columns: Column<ApiKey>[] = [
  { title: 'NAME', value: ({ name }) => name, isFlexible: true },
  { title: 'ROLE', value: ({ role }) => role },
  { title: 'CREATED', value: ({ created_at }) => created_at },
  { title: 'ID', value: ({ id }) => id },
]

async function list(context: Context): Promise<void> {
  const page = await context.client.call('listApiKeys')
  printList(context, { page, row: (key) => key, columns, empty: 'No API keys yet. Make one with cpctl keys create <name>.' })
}

/** The key alone goes to standard output, so that it can be piped to where it belongs. */
async function create(context: Context, name: string, role: string | undefined): Promise<void> {
  const key = await context.client.call('createApiKey', { body: { name, ...present({ role }) } })
  if (context.isJson) return context.printJson(key)
  context.note(clean`Created ${key.name} (${key.id}, role ${key.role}). Keep the key: it is not shown again.`)
  context.print(clean`${key.secret}`)
}

async function revoke(context: Context, nameOrId: string): Promise<void> {
  const found = (await context.client.call('listApiKeys')).filter(({ id, name }) => id === nameOrId || name === nameOrId)
  const [key, other] = found
  if (key === undefined) throw new CliError('not_found', `There is no API key ${nameOrId}.`, { hint: 'cpctl keys list shows them.' })
  if (other !== undefined)
    throw new CliError('conflict', `Several API keys are named ${nameOrId}.`, { hint: 'Give the id: cpctl keys list shows it.' })
  await context.client.call('revokeApiKey', { params: { keyId: key.id } })
  if (!context.isJson) context.print(clean`Revoked ${key.name} (${key.id}).`)
}
