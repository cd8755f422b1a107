import type { Command } from 'commander'
import type { ApiKey, ApiKeyDetails } from '../../shared/api-key.ts'
import type { Scope } from '../../shared/scope.ts'
import { CliError } from '../base/error.ts'
import { ago } from '../base/figures.ts'
import { present } from '../base/present.ts'
import { resolveKey } from '../finding/keys.ts'
import { explainRole } from '../finding/roles.ts'
import { type ScopeOptions, scopeInWords, scopeOf, scopesInWords } from '../finding/scope.ts'
import { addScopeOptions } from '../options/scope.ts'
import { timeAhead } from '../options/time-ahead.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import { type Column, formatFields } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'

const DETAILS_AT_A_TIME = 10

export function addKeyCommands(program: Command, start: Start): void {
  const keys = program.command('keys').description('API keys of the workspace')
  keys
    .command('list')
    .alias('ls')
    .description('List API keys')
    .action((_: unknown, command: Command) => list(start(command)))
  keys
    .command('show')
    .description('Show a key with what it may touch, its end and its last use')
    .argument('<key>', 'Name or id')
    .action((key: string, _: unknown, command: Command) => show(start(command), key))
  const creating = keys
    .command('create')
    .description('Create an API key; it is printed once')
    .argument('<name>', 'What it is for')
    .option('--role <role>', 'Role it has; default: developer, or yours where that may do less')
  addScopeOptions(creating, 'it')
    .option('--expires <when>', 'When it ends: a duration such as 90d, or a day such as 2030-01-31')
    .action((name: string, options: CreateOptions, command: Command) => create(start(command), name, options))
  keys
    .command('revoke')
    .description('Revoke an API key at once')
    .argument('<key>', 'Name or id')
    .action((key: string, _: unknown, command: Command) => revoke(start(command), key))
}

const columnsOf = (inWords: (scope: Scope) => string, now: number): Column<ApiKeyDetails>[] => [
  { title: 'NAME', value: ({ name }) => name, isFlexible: true },
  { title: 'ROLE', value: ({ role }) => role },
  { title: 'SCOPE', value: ({ scope }) => inWords(scope), isFlexible: true },
  { title: 'EXPIRES', value: (key) => endOf(key, now) },
  { title: 'LAST USED', value: ({ last_used_at: at }) => (at === null ? 'never' : ago(at, now)) },
  { title: 'ID', value: ({ id }) => id },
]

/** The list of the API names keys; what each may touch and whether it is still used is asked of each. */
async function list(context: Context): Promise<void> {
  const page = await context.client.call('listApiKeys')
  if (context.isJson) return context.printJson(page)
  const keys = await detailsOf(context, page)
  const inWords = await scopesInWords(
    context,
    keys.map(({ scope }) => scope),
  )
  const columns = columnsOf(inWords, context.io.now())
  printList(context, { page: keys, row: (key) => key, columns, empty: 'No API keys yet. Make one with cpctl keys create <name>.' })
}

/** A few at a time; without those that were revoked meanwhile. */
async function detailsOf({ client }: Context, keys: readonly ApiKey[]): Promise<ApiKeyDetails[]> {
  const found: ApiKeyDetails[] = []
  for (let at = 0; at < keys.length; at += DETAILS_AT_A_TIME) {
    const asked = keys.slice(at, at + DETAILS_AT_A_TIME).map(async ({ id }) => {
      try {
        return [await client.call('getApiKey', { params: { keyId: id } })]
      } catch (error) {
        if (error instanceof CliError && error.code === 'not_found') return []
        throw error
      }
    })
    found.push(...(await Promise.all(asked)).flat())
  }
  return found
}

interface CreateOptions extends ScopeOptions {
  role?: string
  expires?: string
}

/** The key alone goes to standard output, so that it can be piped to where it belongs. */
async function create(context: Context, name: string, { role, expires, ...confining }: CreateOptions): Promise<void> {
  const now = context.io.now()
  const expires_at = expires === undefined ? undefined : timeAhead(expires, { option: '--expires', now })
  const scope = await scopeOf(context, confining)
  const confined = scope === undefined || scope === null ? '' : `, only for ${await scopeInWords(context, scope)}`
  const making = context.client.call('createApiKey', { body: { name, ...present({ role, scope, expires_at }) } })
  const key = await making.catch((error: unknown) => explainRole(context, role, error))
  if (context.isJson) return context.printJson(key)
  const end = expires_at === undefined ? '' : `, until ${expires_at}`
  context.note(clean`Created ${key.name} (${key.id}, role ${key.role}${confined}${end}). Keep the key: it is not shown again.`)
  context.print(clean`${key.secret}`)
}

async function show(context: Context, nameOrId: string): Promise<void> {
  const { id } = await resolveKey(context, nameOrId)
  const key = await context.client.call('getApiKey', { params: { keyId: id } })
  if (context.isJson) return context.printJson(key)
  const fields: [string, string][] = [
    ['Name', key.name],
    ['Id', key.id],
    ['Role', key.role],
    ['May touch', (await scopesInWords(context, [key.scope]))(key.scope)],
    ['Created', `${key.created_at} by ${key.created_by}`],
    ['Expires', endOf(key, context.io.now())],
    ['Last used', key.last_used_at ?? 'never'],
  ]
  context.io.stdout.write(formatFields(fields, context.paint))
}

function endOf({ expires_at }: ApiKeyDetails, now: number): string {
  if (expires_at === null) return 'never'
  return Date.parse(expires_at) <= now ? `${expires_at} (over)` : expires_at
}

async function revoke(context: Context, nameOrId: string): Promise<void> {
  const key = await resolveKey(context, nameOrId)
  await context.client.call('revokeApiKey', { params: { keyId: key.id } })
  if (!context.isJson) context.print(clean`Revoked ${key.name} (${key.id}).`)
}
