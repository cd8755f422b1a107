import { type Command, Option } from 'commander'
import type { DiskInput } from '../../shared/disk.ts'
import type { Service } from '../../shared/service.ts'
import { defaultServiceType, type ServiceType, serviceTypes } from '../../shared/service-type.ts'
import { allPages } from '../api/pages.ts'
import { usageError } from '../base/error.ts'
import { ago } from '../base/figures.ts'
import { present } from '../base/present.ts'
import { placeName, placeNameOf, placesOf } from '../finding/environments.ts'
import { resolveService } from '../finding/service.ts'
import { parseDisk } from '../options/disk.ts'
import { addPlaceFilter, addPlaceOption, emptyIn, type PlaceOptions, placeFilter, placeOfNew } from '../options/place.ts'
import { addRepositoryOptions, type RepositoryOptions, repositoryInput } from '../options/repository.ts'
import { addSettingOptions, isPartOfRelease, type SettingOptions, settingsInput } from '../options/service.ts'
import { gatherOf } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import { confirmByName } from '../session/prompt.ts'
import type { Column } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'
import { addDeployKeyCommand, showKeyIfBySsh } from './deploy-key.ts'
import { printService, stateOf } from './service-fields.ts'
import { addOperationCommands } from './service-operations.ts'

export function addServiceCommands(program: Command, start: Start): void {
  const services = program.command('services').alias('service').description('Create, change and operate services')
  addPlaceFilter(
    services
      .command('list')
      .alias('ls')
      .description('List services; cpctl postgres list and cpctl kv list have databases')
      .option('--type <types>', `Only these types: ${serviceTypes.join(', ')}`, gatherOf(serviceTypes)),
  ).action((options: ListOptions, command: Command) => list(start(command), options))
  services
    .command('get')
    .description('Show a service')
    .argument('[service]', 'Name or id; default: the one named after this folder')
    .action((name: string | undefined, _: unknown, command: Command) => get(start(command), name))
  addRepositoryOptions(
    addSettingOptions(
      addPlaceOption(
        services
          .command('create')
          .description('Create a service; with a repository it is deployed from there, without it waits for its first deploy')
          .argument('<name>', 'Name, unique in the workspace')
          .addOption(new Option('--type <type>', 'Type of service').choices(serviceTypes).default(defaultServiceType))
          .option('--disk <disk>', 'Persistent disk: name, mount path and size in GB, such as data:/var/data:10', parseDisk),
      ),
    ),
  ).action((name: string, options: CreateOptions, command: Command) => create(start(command), name, options))
  addRepositoryOptions(
    addSettingOptions(
      services
        .command('update')
        .description(
          'Change settings of a service; all but name, instances, allowed addresses, guard, sleep and schedule take effect with its next deploy',
        )
        .argument('<service>', 'Name or id')
        .option('--name <name>', 'New name'),
    ),
  ).action((name: string, options: UpdateOptions, command: Command) => update(start(command), name, options))
  services
    .command('delete')
    .description('Delete a service with its releases, logs and settings')
    .argument('<service>', 'Name or id')
    .option('-y, --yes', 'Do not ask')
    .action((name: string, options: { yes?: boolean }, command: Command) => remove(start(command), name, options.yes === true))
  addOperationCommands(services, start)
  addDeployKeyCommand(services, start)
}

interface ListOptions extends PlaceOptions {
  type?: ServiceType[]
}

async function list(context: Context, options: ListOptions): Promise<void> {
  const filter = { ...present({ type: options.type }), ...(await placeFilter(context, options)) }
  const page = await allPages((query) => context.client.call('listServices', { query: { ...query, ...filter } }))
  const empty = emptyIn(options, 'No services yet. Run cpctl deploy in a folder to make one.')
  const isPlaced = !context.isJson && page.some(({ service }) => service.environmentId !== undefined)
  const names = isPlaced ? new Map((await placesOf(context)).map((place) => [place.environment.id, placeName(place)])) : undefined
  printList(context, { page, row: ({ service }) => service, columns: serviceColumns(context, names), empty })
}

/** Environments are told by `places`, their names by ids, where a service is in one. */
const serviceColumns = ({ io }: Context, places: ReadonlyMap<string, string> | undefined): Column<Service>[] => [
  { title: 'NAME', value: ({ name }) => name, isFlexible: true, colour: () => 'bold' },
  ...(places === undefined
    ? []
    : [{ title: 'ENVIRONMENT', value: ({ environmentId: id = '-' }: Service) => places.get(id) ?? id, isFlexible: true as const }]),
  { title: 'TYPE', value: ({ type }) => type },
  { title: 'STATE', value: stateOf, colour: (service) => (stateOf(service) === 'active' ? undefined : 'yellow') },
  { title: 'PLAN', value: ({ serviceDetails }) => serviceDetails.plan ?? '-' },
  { title: 'INSTANCES', value: ({ serviceDetails }) => String(serviceDetails.numInstances ?? '-'), align: 'right' },
  { title: 'UPDATED', value: ({ updatedAt }) => ago(updatedAt, io.now()) },
  { title: 'URL', value: ({ serviceDetails }) => serviceDetails.url ?? '-', isFlexible: true },
]

async function get(context: Context, name: string | undefined): Promise<void> {
  const service = await resolveService(context, name)
  if (context.isJson) return context.printJson(service)
  const { environmentId } = service
  const place = environmentId === undefined ? undefined : await placeNameOf(context, environmentId)
  printService(context, service, place)
}

interface CreateOptions extends SettingOptions, PlaceOptions, RepositoryOptions {
  type: ServiceType
  disk?: DiskInput
}

async function create(context: Context, name: string, options: CreateOptions): Promise<void> {
  const { rootDir, serviceDetails } = settingsInput(options.type, options)
  const details = present({ ...serviceDetails, disk: options.disk })
  const place = await placeOfNew(context, options, context.io.cwd)
  const body = {
    type: options.type,
    name,
    ...repositoryInput(options),
    ...present({ rootDir, environmentId: place?.environment.id }),
    ...(Object.keys(details).length === 0 ? {} : { serviceDetails: details }),
  }
  const created = await context.client.call('createService', { body })
  if (context.isJson) return context.printJson(created)
  const where = place === undefined ? '' : ` in ${placeName(place)}`
  context.print(clean`Created ${created.service.name} (${created.service.id})${where}.`)
  if (created.deployId !== undefined) {
    context.print(
      clean`Deploy ${created.deployId} fetches ${created.service.repo ?? ''}. Follow it: cpctl logs ${created.service.name} --type build --follow`,
    )
    return
  }
  if (created.service.repo !== undefined) return await showKeyIfBySsh(context, created.service)
  context.print(clean`Deploy to it from its folder: cpctl deploy --service ${created.service.name}`)
}

interface UpdateOptions extends SettingOptions, RepositoryOptions {
  name?: string
}

async function update(context: Context, name: string, options: UpdateOptions): Promise<void> {
  const service = await resolveService(context, name)
  const body = present({ name: options.name, ...settingsInput(service.type, options), ...repositoryInput(options) })
  if (Object.keys(body).length === 0) throw usageError('Nothing to change was given.', 'Run cpctl services update --help for what can be.')
  const updated = await context.client.call('updateService', { params: { serviceId: service.id }, body })
  if (context.isJson) return context.printJson(updated)
  const { name: _, ...settings } = options
  const remark = isPartOfRelease(settings) ? ' The change takes effect with its next deploy.' : ''
  context.print(clean`Updated ${updated.name}.${remark}`)
  if (options.repo !== undefined) await showKeyIfBySsh(context, updated)
}

async function remove(context: Context, name: string, isConfirmed: boolean): Promise<void> {
  const service = await resolveService(context, name)
  await confirmByName(context, service.name, isConfirmed)
  await context.client.call('deleteService', { params: { serviceId: service.id } })
  if (!context.isJson) context.print(clean`Deleted ${service.name}.`)
}
