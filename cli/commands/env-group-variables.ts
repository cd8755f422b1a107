import type { Command } from 'commander'
import { databaseProperties, type EnvValueInput } from '../../shared/env.ts'
import type { EnvGroup } from '../../shared/env-group.ts'
import { CliError, usageError } from '../base/error.ts'
import { present } from '../base/present.ts'
import { type ChangeOptions, tellChange, together } from '../env-groups/touched.ts'
import { resolveGroup } from '../finding/env-groups.ts'
import { parseEnvFile, parsePairs, withoutPlatformKeys } from '../options/env-pairs.ts'
import type { Context, Start } from '../session/context.ts'
import { clean } from '../terminal/text.ts'
import { textOf } from './env.ts'
import { writeDotenv } from './env-export.ts'
import type { OfGroup } from './env-groups.ts'
import { isReference, keyOfReference, type ReferenceOptions, referenceOf } from './env-references.ts'

export const DEPLOY_HELP = 'Deploy the services that it makes a difference for, and wait for them'

export function addGroupVariableCommands(of: OfGroup, start: Start): void {
  of('set', 'Add or change variables')
    .usage('[options] <group> <KEY=value...>')
    .argument('[pairs...]', 'KEY=value; KEY alone, or nothing, where a database says the value')
    .option('--interpolate', 'Put the values of other variables in the place of ${NAME}')
    .option('--from-postgres <database>', 'Have a database say the value at each deploy; DATABASE_URL unless a variable is named')
    .option('--from-kv <store>', 'Have a key-value store say it; REDIS_URL unless a variable is named')
    .option('--property <name>', `What of it: ${databaseProperties.join(', ')}`)
    .option('--deploy', DEPLOY_HELP)
    .action((name: string, words: string[], options: SetOptions & ReferenceOptions, command: Command) =>
      set(start(command), name, { deploy: options.deploy, variables: variablesIn(words, options) }),
    )
  of('unset', 'Remove variables')
    .argument('<keys...>', 'Names of variables')
    .option('--deploy', DEPLOY_HELP)
    .action((name: string, keys: string[], options: ChangeOptions, command: Command) => unset(start(command), name, { ...options, keys }))
  of('import', 'Add or change the variables of a .env file')
    .argument('<file>', 'The file, or - for standard input')
    .option('--replace', 'Remove every other variable')
    .option('--deploy', DEPLOY_HELP)
    .action((name: string, file: string, options: ImportOptions, command: Command) =>
      importFile(start(command), name, { ...options, file }),
    )
  of('export', 'Print the variables in .env format, with their values').action((name: string, _: unknown, command: Command) =>
    exportAll(start(command), name),
  )
}

interface SetOptions extends ChangeOptions {
  interpolate?: boolean
}

interface Setting {
  deploy: boolean | undefined
  variables: (EnvValueInput & { key: string })[]
}

function variablesIn(words: readonly string[], options: SetOptions & ReferenceOptions): Setting['variables'] {
  if (isReference(options)) return [{ key: keyOfReference(words, options), ...referenceOf(options) }]
  if (words.length === 0) throw usageError('Say which variables are to be set, as KEY=value.')
  const marks = present({ interpolate: options.interpolate })
  return parsePairs(words).map((pair) => ({ ...pair, ...marks }))
}

async function set(context: Context, name: string, options: Setting): Promise<void> {
  const group = await resolveGroup(context, name)
  const changed = together(await setAll(context, group, options))
  const keys = options.variables.map(({ key }) => key).join(', ')
  const { deploy } = options
  if (changed !== undefined) await tellChange(context, changed, { what: clean`Set ${keys} of ${group.name}.`, ...present({ deploy }) })
}

/** Services are deployed with the last of them, which brings what the others have changed. */
function setAll({ client }: Context, { id }: EnvGroup, { variables, deploy }: Setting): Promise<EnvGroup[]> {
  return eachInTurn(variables, ({ key, ...body }, isLast) =>
    client.call('setGroupEnvVar', { params: { envGroupId: id, key }, body, query: isLast ? present({ deploy }) : {} }),
  )
}

async function eachInTurn<T>(
  items: readonly T[],
  change: (item: T, isLast: boolean) => Promise<EnvGroup | undefined>,
): Promise<EnvGroup[]> {
  const changes: EnvGroup[] = []
  for (const [at, item] of items.entries()) {
    const changed = await change(item, at === items.length - 1)
    if (changed !== undefined) changes.push(changed)
  }
  return changes
}

async function unset(context: Context, name: string, { keys, deploy = false }: ChangeOptions & { keys: string[] }): Promise<void> {
  const group = await resolveGroup(context, name)
  const unknown = keys.find((key) => !group.envVars.some((one) => one.key === key))
  if (unknown !== undefined)
    throw new CliError('not_found', clean`${group.name} has no variable ${unknown}.`, { hint: 'Nothing was removed.' })
  const changes = await eachInTurn([...new Set(keys)], (key, isLast) =>
    context.client.call('deleteGroupEnvVar', { params: { envGroupId: group.id, key }, query: { deploy: deploy && isLast } }),
  )
  const changed = together(changes)
  if (changed !== undefined) await tellChange(context, changed, { what: clean`Removed ${keys.join(', ')} of ${group.name}.`, deploy })
}

interface ImportOptions extends ChangeOptions {
  replace?: boolean
}

async function importFile(context: Context, name: string, { file, replace, deploy }: ImportOptions & { file: string }): Promise<void> {
  const pairs = withoutPlatformKeys(parseEnvFile(await textOf(context, file), file), context.note)
  if (pairs.length === 0 && !replace) throw usageError(`${file} holds no variables.`)
  const group = await resolveGroup(context, name)
  const query = present({ deploy })
  const changed = replace
    ? await context.client.call('replaceGroupEnvVars', { params: { envGroupId: group.id }, body: pairs, query })
    : together(await setAll(context, group, { variables: pairs, deploy }))
  const count = pairs.length === 1 ? '1 variable' : `${pairs.length} variables`
  if (changed !== undefined) await tellChange(context, changed, { what: clean`Imported ${count} into ${group.name}.`, ...query })
}

async function exportAll(context: Context, name: string): Promise<void> {
  const { envVars, name: groupName } = await resolveGroup(context, name)
  if (envVars.some(({ hidden }) => hidden)) {
    throw new CliError('forbidden', 'Your role may not see the values.', {
      hint: 'It needs the permission env.read, and in a protected environment environments.manage_protected.',
    })
  }
  if (context.isJson) return context.printJson(envVars)
  writeDotenv(context, envVars, ({ key, option }) => `cpctl env-groups set ${groupName} ${key} ${option}`)
}
