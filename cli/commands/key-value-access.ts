import type { Command } from 'commander'
import { formerPasswordHours, type KeyValueCredential } from '../../shared/key-value.ts'
import { usageError } from '../base/error.ts'
import { present } from '../base/present.ts'
import { tellTouched } from '../env-groups/touched.ts'
import { resolveKeyValue } from '../finding/key-value.ts'
import { untilAvailable } from '../key-value/until-available.ts'
import { wholeNumber } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { printTable } from '../session/output.ts'
import { type Column, formatFields } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'
import type { OfStore } from './key-value.ts'

export function addKeyValueAccessCommands(of: OfStore, start: Start): void {
  of('suspend', 'Stop a key-value store; what it persists is kept').action((name: string, _: unknown, command: Command) =>
    suspend(start(command), name),
  )
  of('resume', 'Start a suspended key-value store').action((name: string, _: unknown, command: Command) => resume(start(command), name))
  of('restart', 'Restart a key-value store; what it persists is kept').action((name: string, _: unknown, command: Command) =>
    restart(start(command), name),
  )
  of('info', 'Show how to connect to a key-value store, with its password').action((name: string, _: unknown, command: Command) =>
    info(start(command), name),
  )
  of('credentials', 'Show which passwords of a key-value store are good, or give it another')
    .option('--rotate', 'Give it another password; the one until now is good as well for a while')
    .option('--former-hours <hours>', 'How long that is', wholeNumber(0, formerPasswordHours.most))
    .option('--deploy', 'Deploy the services whose variables refer to the store, so that they connect with the new password')
    .action((name: string, options: CredentialOptions, command: Command) => credentials(start(command), name, options))
}

async function suspend(context: Context, nameOrId: string): Promise<void> {
  const { id, name } = await resolveKeyValue(context, nameOrId)
  await context.client.call('suspendKeyValue', { params: { keyValueId: id } })
  if (!context.isJson) context.print(clean`${name} is suspended. cpctl kv resume ${name} starts it again.`)
}

async function resume(context: Context, nameOrId: string): Promise<void> {
  const { id, name } = await resolveKeyValue(context, nameOrId)
  await context.client.call('resumeKeyValue', { params: { keyValueId: id } })
  const store = await untilAvailable(context, await context.client.call('getKeyValue', { params: { keyValueId: id } }))
  if (context.isJson) context.printJson(store)
  else context.print(clean`${name} is ${store.status}.`)
}

async function restart(context: Context, nameOrId: string): Promise<void> {
  const { id, name } = await resolveKeyValue(context, nameOrId)
  await context.client.call('restartKeyValue', { params: { keyValueId: id } })
  const store = await untilAvailable(context, await context.client.call('getKeyValue', { params: { keyValueId: id } }))
  if (context.isJson) context.printJson(store)
  else context.print(clean`${name} is ${store.status}.`)
}

async function info(context: Context, nameOrId: string): Promise<void> {
  const { id } = await resolveKeyValue(context, nameOrId)
  const found = await context.client.call('getKeyValueConnectionInfo', { params: { keyValueId: id } })
  if (context.isJson) return context.printJson(found)
  const none = 'none: the server has no way in from outside (CP_INGRESS_KEY_VALUE)'
  const fields: [string, string][] = [
    ['Inside', found.internalConnectionString],
    ['Outside', found.externalConnectionString || none],
    ...(found.cliCommand === '' ? [] : [['Command', found.cliCommand] as [string, string]]),
  ]
  context.io.stdout.write(formatFields(fields, context.paint))
}

interface CredentialOptions {
  rotate?: boolean
  formerHours?: number
  deploy?: boolean
}

async function credentials(context: Context, nameOrId: string, { rotate, formerHours, deploy }: CredentialOptions): Promise<void> {
  if (rotate !== true && (formerHours !== undefined || deploy !== undefined))
    throw usageError('--former-hours and --deploy belong to --rotate.', 'cpctl kv credentials --help tells what can be done.')
  const { id, name } = await resolveKeyValue(context, nameOrId)
  const params = { keyValueId: id }
  if (rotate !== true) {
    const found = await context.client.call('listKeyValueCredentials', { params })
    return context.isJson ? context.printJson(found) : printTable(context, columns, found)
  }
  const query = present({ deploy })
  const rotated = await context.client.call('rotateKeyValueCredentials', {
    params,
    query,
    body: present({ formerValidHours: formerHours }),
  })
  if (!context.isJson) {
    printTable(context, columns, rotated.credentials)
    context.note(clean`cpctl kv info ${name} shows the new password.`)
  }
  await tellTouched(context, rotated, { none: 'No variable of a service refers to it.', ...present({ deploy }) })
}

const columns: Column<KeyValueCredential>[] = [
  { title: 'USER', value: ({ username }) => username },
  { title: 'MADE', value: ({ createdAt }) => createdAt },
  { title: 'GOOD UNTIL', value: ({ expiresAt }) => expiresAt ?? 'it is replaced' },
]
