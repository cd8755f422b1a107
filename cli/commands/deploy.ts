import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { isId } from '../../shared/id.ts'
import type { Service } from '../../shared/service.ts'
import { type ServiceType, serviceTypes } from '../../shared/service-type.ts'
import { CliError, usageError } from '../base/error.ts'
import { present } from '../base/present.ts'
import { awaitDeploy } from '../deploying/outcome.ts'
import { requirePlace } from '../deploying/place.ts'
import { placeName } from '../finding/environments.ts'
import { findService, folderService, resolveService } from '../finding/service.ts'
import { parseEnvFile, parsePairs, withoutPlatformKeys } from '../options/env-pairs.ts'
import { addPlaceOption, type PlaceOptions, placeOfNew } from '../options/place.ts'
import { addSettingOptions, type SettingOptions, settingsInput } from '../options/service.ts'
import { gatherWhole, untilProvenOption } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { ask } from '../session/prompt.ts'
import { detectType } from '../source/detect.ts'
import type { SourceFile } from '../source/files.ts'
import { dotenvFiles } from '../source/secrets.ts'
import { clean } from '../terminal/text.ts'

interface DeployOptions extends SettingOptions, PlaceOptions {
  service?: string
  type?: ServiceType
  env?: string[]
  envFile?: string
  dryRun?: boolean
  detach?: boolean
  untilProven?: boolean
}

export function addDeployCommand(program: Command, start: Start): void {
  const command = program
    .command('deploy')
    .description('Upload a folder and deploy it, creating the service when there is none')
    .argument('[folder]', 'Folder of the source', '.')
    .option('-s, --service <service>', "Name or id; default: the folder's name")
    .addOption(new Option('--type <type>', 'Type of a new service; default: what the folder looks like').choices(serviceTypes))
    .option('-e, --env <KEY=value>', 'Environment variable to set; may be repeated', gatherWhole)
    .option('--env-file <file>', 'File of environment variables to set')
    .option('--dry-run', 'Show what would be built and started, and why, and do nothing')
    .option('-d, --detach', 'Do not wait until it is live')
    .addOption(untilProvenOption())
  addSettingOptions(addPlaceOption(command)).action((folder: string, options: DeployOptions, self: Command) =>
    deploy(start(self), folder, options),
  )
}

async function deploy(context: Context, folder: string, options: DeployOptions): Promise<void> {
  const root = resolve(context.io.cwd, folder)
  const envVars = await variables(context, options)
  // Packing is needed by this command only: the others start faster without its packages.
  const [{ sourceFiles }, { uploadSource }, { planDeploy }] = await Promise.all([
    import('../source/files.ts'),
    import('../deploying/upload.ts'),
    import('../deploying/plan.ts'),
  ])
  const files = await sourceFiles(root)
  warnOfSecrets(context, files)
  if (options.dryRun === true) return await planDeploy(context, { name: options.service ?? folderService(root), options, files })
  const service = await prepareService(context, { wanted: options.service ?? folderService(root), options, envVars, files, root })
  const deployId = await uploadSource(context, { serviceId: service.id, files })
  await awaitDeploy(context, { service, deployId, isDetached: options.detach === true, untilProven: options.untilProven === true })
}

async function variables({ io, note }: Context, { env = [], envFile }: DeployOptions): Promise<{ key: string; value: string }[]> {
  if (envFile === undefined) return parsePairs(env)
  const text = await readFile(resolve(io.cwd, envFile), 'utf8').catch((error: Error) => {
    throw usageError(`Cannot read ${envFile}: ${error.message}`)
  })
  return [
    ...new Map([...withoutPlatformKeys(parseEnvFile(text, envFile), note), ...parsePairs(env)].map((pair) => [pair.key, pair])).values(),
  ]
}

interface Wanted {
  wanted: string
  options: DeployOptions
  envVars: { key: string; value: string }[]
  files: readonly SourceFile[]
  root: string
}

async function prepareService(context: Context, wanted: Wanted): Promise<Service> {
  const found = await findService(context, wanted.wanted)
  if (found !== undefined) {
    await requirePlace(context, { service: found, options: wanted.options, folder: wanted.root })
    return updateService(context, found, wanted)
  }
  if (isId('service', wanted.wanted)) {
    throw new CliError('not_found', `There is no service ${wanted.wanted}.`, { hint: 'cpctl services list shows them.' })
  }
  return chooseService(context, wanted)
}

/** On a terminal nobody makes a service by mistake: a folder that stands for none may belong to one of another name. */
async function chooseService(context: Context, wanted: Wanted): Promise<Service> {
  const { wanted: name, options } = wanted
  if (options.service !== undefined || context.isJson || !context.io.stdin.isTty) return createService(context, wanted)
  const text = clean`There is no service ${name}. Enter makes it; or type the name of the one to deploy to:`
  const answer = (await ask(context, { text, instead: 'Give --service.' })).trim()
  if (answer === '' || answer === name) return createService(context, wanted)
  const service = await resolveService(context, answer)
  context.note(clean`Next time: cpctl deploy --service ${service.name}`)
  return updateService(context, service, wanted)
}

function warnOfSecrets({ note }: Context, files: readonly SourceFile[]): void {
  const [first, ...others] = dotenvFiles(files)
  if (first === undefined) return
  const names = others.length === 0 ? first : `${first} and ${others.length} more`
  note(
    clean`Warning: ${names} goes along with the source. Leave it out with a line in .cpignore, and set its variables with cpctl env import.`,
  )
}

async function createService(context: Context, { wanted: name, options, envVars, files, root }: Wanted): Promise<Service> {
  const place = await placeOfNew(context, options, root)
  const type = options.type ?? (await detectType(files, options.rootDir))
  const body = {
    ...{ type, name, ...settingsInput(type, options) },
    ...(place && { environmentId: place.environment.id }),
    ...(envVars.length > 0 ? { envVars } : {}),
  }
  const { service } = await context.client.call('createService', { body })
  const where = place === undefined ? '' : ` in ${placeName(place)}`
  if (!context.isJson) context.note(clean`Created ${service.type} ${service.name} (${service.id})${where}`)
  return service
}

async function updateService(context: Context, service: Service, { options, envVars }: Wanted): Promise<Service> {
  if (options.type !== undefined && options.type !== service.type) {
    throw usageError(`${service.name} is a ${service.type}, and the type of a service cannot change.`, 'Give another name with --service.')
  }
  if (service.suspended === 'suspended') {
    throw new CliError('conflict', clean`${service.name} is suspended.`, { hint: clean`Run cpctl services resume ${service.name} first.` })
  }
  const params = { serviceId: service.id }
  const body = present(settingsInput(service.type, options))
  const updated = Object.keys(body).length === 0 ? service : await context.client.call('updateService', { params, body })
  for (const { key, value } of envVars) await context.client.call('setEnvVar', { params: { ...params, key }, body: { value } })
  return updated
}
