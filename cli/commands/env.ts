import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type EnvVar, formatDotenv, type PlatformEnvVar } from '../../shared/env.ts'
import type { Service } from '../../shared/service.ts'
import type { Context, Start } from '../context.ts'
import { awaitDeploy } from '../deploying/outcome.ts'
import { CliError, usageError } from '../error.ts'
import { printList } from '../output.ts'
import { allPages } from '../pages.ts'
import { resolveService } from '../resolve.ts'
import { parseEnvFile, parsePairs, withoutPlatformKeys } from '../service-settings.ts'
import type { Column } from '../table.ts'
import { clean, cleanLines } from '../terminal-text.ts'

interface OfService {
  service?: string
}

interface ChangeOptions extends OfService {
  deploy?: boolean
}

export function addEnvCommands(program: Command, start: Start): void {
  const env = program.command('env').description('Environment variables of a service')
  const add = (name: string, description: string) =>
    env.command(name).description(description).option('-s, --service <service>', 'Name or id; default: the one named after this folder')
  const addChange = (name: string, description: string) =>
    add(name, description).option('--deploy', 'Deploy afterwards, so that it takes effect')
  add('list', 'List variables')
    .alias('ls')
    .option('--show', 'Show the values')
    .action((options: OfService & { show?: boolean }, command: Command) => list(start(command), options))
  addChange('set', 'Add or change variables')
    .argument('<KEY=value...>', 'Variables')
    .action((pairs: string[], options: ChangeOptions, command: Command) => set(start(command), parsePairs(pairs), options))
  addChange('unset', 'Remove variables')
    .argument('<KEY...>', 'Names')
    .action((keys: string[], options: ChangeOptions, command: Command) => unset(start(command), keys, options))
  addChange('import', 'Add or change the variables of a .env file')
    .argument('<file>', 'The file, or - for standard input')
    .option('--replace', 'Remove every other variable')
    .action((file: string, options: ImportOptions, command: Command) => importFile(start(command), file, options))
  add('platform', 'List the variables that the platform itself gives, which win over those of the same name').action(
    (options: OfService, command: Command) => listPlatform(start(command), options),
  )
  add('export', 'Print the variables in .env format, with their values').action((options: OfService, command: Command) =>
    exportAll(start(command), options),
  )
}

const variablesOf = (context: Context, service: Service) =>
  allPages((query) => context.client.call('listEnvVars', { params: { serviceId: service.id }, query }))

async function list(context: Context, options: OfService & { show?: boolean }): Promise<void> {
  const service = await resolveService(context, options.service)
  const page = await variablesOf(context, service)
  const columns: Column<EnvVar>[] = [
    { title: 'KEY', value: ({ key }) => key },
    { title: 'VALUE', value: ({ value, hidden }) => (hidden ? '(not yours to see)' : options.show ? value : '••••••••'), isFlexible: true },
  ]
  const shown = options.show ? page : page.map((item) => ({ ...item, envVar: { ...item.envVar, value: '', hidden: true as const } }))
  if (context.isJson) return context.printJson(shown)
  printList(context, { page, row: ({ envVar }) => envVar, columns, empty: clean`${service.name} has no variables of its own.` })
}

const platformColumns: Column<PlatformEnvVar>[] = [
  { title: 'KEY', value: ({ key }) => key },
  { title: 'VALUE', value: ({ value }) => value, isFlexible: true },
  { title: 'WHAT IT IS', value: ({ description }) => description, isFlexible: true },
]

async function listPlatform(context: Context, options: OfService): Promise<void> {
  const service = await resolveService(context, options.service)
  const page = await context.client.call('listPlatformEnv', { params: { serviceId: service.id } })
  const empty = clean`${service.name} is a ${service.type}: nothing runs that could be given variables.`
  printList(context, { page, row: ({ envVar }) => envVar, columns: platformColumns, empty })
}

async function set(context: Context, pairs: { key: string; value: string }[], options: ChangeOptions): Promise<void> {
  const service = await resolveService(context, options.service)
  await setAll(context, service, pairs)
  await afterChange(context, service, { what: clean`Set ${pairs.map(({ key }) => key).join(', ')}`, isDeployed: options.deploy === true })
}

async function setAll({ client }: Context, service: Service, pairs: { key: string; value: string }[]): Promise<void> {
  for (const { key, value } of pairs) await client.call('setEnvVar', { params: { serviceId: service.id, key }, body: { value } })
}

async function unset(context: Context, keys: string[], options: ChangeOptions): Promise<void> {
  const service = await resolveService(context, options.service)
  for (const key of keys) await context.client.call('deleteEnvVar', { params: { serviceId: service.id, key } })
  await afterChange(context, service, { what: clean`Removed ${keys.join(', ')}`, isDeployed: options.deploy === true })
}

interface ImportOptions extends ChangeOptions {
  replace?: boolean
}

async function importFile(context: Context, file: string, options: ImportOptions): Promise<void> {
  const pairs = withoutPlatformKeys(parseEnvFile(await textOf(context, file), file), context.note)
  if (pairs.length === 0 && !options.replace) throw usageError(`${file} holds no variables.`)
  const service = await resolveService(context, options.service)
  if (options.replace) await context.client.call('replaceEnvVars', { params: { serviceId: service.id }, body: pairs })
  else await setAll(context, service, pairs)
  const count = pairs.length === 1 ? '1 variable' : `${pairs.length} variables`
  await afterChange(context, service, { what: `Imported ${count}`, isDeployed: options.deploy === true })
}

/** A file's text, or that of standard input for `-`. */
export async function textOf({ io }: Context, file: string): Promise<string> {
  if (file === '-') return io.stdin.text()
  return readFile(resolve(io.cwd, file), 'utf8').catch((error: Error) => {
    throw usageError(`Cannot read ${file}: ${error.message}`)
  })
}

async function exportAll(context: Context, options: OfService): Promise<void> {
  const service = await resolveService(context, options.service)
  const page = await variablesOf(context, service)
  const hidden = page.find(({ envVar }) => envVar.hidden)
  if (hidden !== undefined) {
    throw new CliError('forbidden', 'Your role may not see the values.', {
      hint: 'It needs the permission env.read; cpctl env list shows the names.',
    })
  }
  if (context.isJson) return context.printJson(page)
  const text = formatDotenv(page.map(({ envVar }) => envVar))
  context.io.stdout.write(context.io.stdout.isTty ? cleanLines(text) : text)
}

interface Change {
  what: string
  isDeployed: boolean
}

/** Tells what changed, and that or how it takes effect. */
export async function afterChange(context: Context, service: Service, { what, isDeployed }: Change): Promise<void> {
  if (!context.isJson) context.print(clean`${what} of ${service.name}.`)
  if (!isDeployed) {
    context.note('It takes effect with the next deploy: --deploy makes one.')
    return
  }
  const deploy = await context.client.call('createDeploy', { params: { serviceId: service.id }, body: { deployMode: 'deploy_only' } })
  await awaitDeploy(context, { service, deployId: deploy.id, isDetached: false })
}
