import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { databaseProperties } from '../../shared/env.ts'
import type { Service } from '../../shared/service.ts'
import { CliError, usageError } from '../base/error.ts'
import { present } from '../base/present.ts'
import { awaitDeploy } from '../deploying/outcome.ts'
import { addServiceOption, type OfService, resolveService, serviceNamed, splitService } from '../finding/service.ts'
import { parseEnvFile, parsePairs, withoutPlatformKeys } from '../options/env-pairs.ts'
import type { Context, Start } from '../session/context.ts'
import { clean } from '../terminal/text.ts'
import { type ExportOptions, exportAll } from './env-export.ts'
import { type ListOptions, listOwn, listPlatform, listResolved } from './env-lists.ts'
import { isReference, type ReferenceOptions, referenceOf, wordsOfReference } from './env-references.ts'

interface ChangeOptions extends OfService {
  deploy?: boolean
}

interface SetOptions extends ChangeOptions {
  interpolate?: boolean
}

export function addEnvCommands(program: Command, start: Start): void {
  const env = program.command('env').description('Environment variables of a service')
  const add = (name: string, description: string) => addServiceOption(env.command(name).description(description))
  const addOf = (name: string, description: string) => add(name, description).argument('[service]', SERVICE_HELP)
  const addChange = (name: string, description: string) =>
    add(name, description).option('--deploy', 'Deploy afterwards, so that it takes effect')
  addOf('list', 'List variables')
    .alias('ls')
    .option('--show', 'Show the values')
    .option('--resolved', 'All that the next deploy gives it, from wherever: whose value wins, and what it hides')
    .action((service: string | undefined, options: ListOptions, command: Command) => {
      const print = options.resolved ? listResolved : listOwn
      return print(start(command), { ...options, ...named(service, options) })
    })
  addChange('set', 'Add or change variables')
    .usage('[options] [service] <KEY=value...>')
    .argument('[words...]', 'Variables; a first word without = names the service')
    .option('--interpolate', 'Put the values of other variables in the place of ${NAME}')
    .option(
      '--from-postgres <database>',
      'Have a database say the value at each deploy; the variable is DATABASE_URL unless another is named',
    )
    .option('--from-kv <store>', 'Have a key-value store say it; the variable is REDIS_URL unless another is named')
    .option('--property <name>', `What of it: ${databaseProperties.join(', ')}`)
    .action((words: string[], options: SetOptions & ReferenceOptions, command: Command) => {
      if (isReference(options)) {
        const { service, key } = wordsOfReference(words, options)
        return setReference(start(command), { ...options, ...named(service, options), key })
      }
      if (words.length === 0) throw usageError('Say which variables are to be set, as KEY=value.')
      const { service, rest } = splitWords(words, options, (word) => !word.includes('='))
      return set(start(command), parsePairs(rest), { ...options, ...service })
    })
  addChange('unset', 'Remove variables')
    .usage('[options] [service] <KEY...>')
    .argument('<words...>', 'Names of variables; a first word in small letters before others names the service')
    .action((words: string[], options: ChangeOptions, command: Command) => {
      const { service, rest } = splitWords(words, options, (word) => words.length > 1 && !/^[A-Z_][A-Z0-9_]*$/.test(word))
      return unset(start(command), rest, { ...options, ...service })
    })
  addChange('import', 'Add or change the variables of a .env file')
    .usage('[options] [service] <file>')
    .argument('<words...>', 'The file, or - for standard input; a word before it names the service')
    .option('--replace', 'Remove every other variable')
    .action((words: string[], options: ImportOptions, command: Command) => {
      const { name, rest } = splitService(words, 1, options)
      return importFile(start(command), rest[0] ?? '-', { ...options, ...present({ service: name }) })
    })
  addOf('platform', 'List the variables that the platform itself gives, which win over those of the same name').action(
    (service: string | undefined, options: OfService, command: Command) => listPlatform(start(command), named(service, options)),
  )
  addOf('export', 'Print the variables in .env format, with their values')
    .option('--resolve', 'With what the next deploy gives in the place of references to databases and other variables')
    .action((service: string | undefined, options: ExportOptions, command: Command) =>
      exportAll(start(command), { ...options, ...named(service, options) }),
    )
}

const SERVICE_HELP = 'Name or id; default: the one named after this folder'

const named = (argument: string | undefined, options: OfService): OfService => present({ service: serviceNamed(argument, options) })

function splitWords(
  words: readonly string[],
  options: OfService,
  isService: (word: string) => boolean,
): { service: OfService; rest: string[] } {
  const [first = '', ...rest] = words
  if (!isService(first)) return { service: named(undefined, options), rest: [...words] }
  if (rest.length === 0) throw usageError(`${first} is not KEY=value.`)
  return { service: named(first, options), rest }
}

async function set(context: Context, pairs: { key: string; value: string }[], options: SetOptions): Promise<void> {
  const service = await resolveService(context, options.service)
  const marks = present({ interpolate: options.interpolate })
  await setAll(
    context,
    service,
    pairs.map((pair) => ({ ...pair, ...marks })),
  )
  await afterChange(context, service, { what: clean`Set ${pairs.map(({ key }) => key).join(', ')}`, isDeployed: options.deploy === true })
}

async function setReference(context: Context, options: ChangeOptions & ReferenceOptions & { key: string }): Promise<void> {
  const service = await resolveService(context, options.service)
  const { key } = options
  await context.client.call('setEnvVar', { params: { serviceId: service.id, key }, body: referenceOf(options) })
  await afterChange(context, service, { what: clean`Set ${key}`, isDeployed: options.deploy === true })
}

async function setAll(
  { client }: Context,
  service: Service,
  pairs: { key: string; value: string; interpolate?: boolean }[],
): Promise<void> {
  for (const { key, ...body } of pairs) {
    const setting = client.call('setEnvVar', { params: { serviceId: service.id, key }, body })
    await setting.catch((error: unknown) => {
      throw error instanceof CliError ? naming(key, error) : error
    })
  }
}

/** With the variable it is about, where the message leaves that out. */
const naming = (key: string, error: CliError): CliError =>
  error.message.includes(key)
    ? error
    : new CliError(error.code, `${key}: ${error.message}`, { ...error.body, cause: error, ...present({ hint: error.hint }) })

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

export async function textOf({ io }: Context, file: string): Promise<string> {
  if (file === '-') return io.stdin.text()
  return readFile(resolve(io.cwd, file), 'utf8').catch((error: Error) => {
    throw usageError(`Cannot read ${file}: ${error.message}`)
  })
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
