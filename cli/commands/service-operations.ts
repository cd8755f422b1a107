import { Argument, type Command } from 'commander'
import { type Event, eventTypes, isOfDatastore } from '../../shared/event.ts'
import type { Instance } from '../../shared/service.ts'
import { maxInstances } from '../../shared/service-details.ts'
import { allPages } from '../api/pages.ts'
import { ago } from '../base/figures.ts'
import { detailsText } from '../events/line.ts'
import { resolveService } from '../finding/service.ts'
import { wholeNumber } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import type { Column } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'

const DEFAULT_EVENTS = 20

export function addOperationCommands(services: Command, start: Start): void {
  for (const { name, description, run } of operations) {
    services
      .command(name)
      .description(description)
      .argument('<service>', 'Name or id')
      .action((service: string, _: unknown, command: Command) => run(start(command), service))
  }
  services
    .command('scale')
    .description('Set how many instances run')
    .argument('<service>', 'Name or id')
    .argument('<instances>', `1 to ${maxInstances}`, wholeNumber(1, maxInstances))
    .action((service: string, count: number, _: unknown, command: Command) => scale(start(command), service, count))
  services
    .command('maintenance')
    .description('Answer every request with a page of maintenance, or end that; instances go on running')
    .addArgument(new Argument('<state>', 'on or off').choices(['on', 'off']))
    .argument('<service>', 'Name or id')
    .option('--uri <url>', 'Page of another host to send requests to; "" for the page of the platform')
    .action((state: 'on' | 'off', name: string, options: { uri?: string }, command: Command) =>
      maintain(start(command), name, { enabled: state === 'on', ...options }),
    )
  services
    .command('instances')
    .description('List the running instances of a service')
    .argument('[service]', 'Name or id; default: the one named after this folder')
    .action((service: string | undefined, _: unknown, command: Command) => instances(start(command), service))
  services
    .command('events')
    .description('List what happened to a service, newest first')
    .argument('[service]', 'Name or id; default: the one named after this folder')
    .option('-n, --limit <count>', 'How many', wholeNumber(1, 10_000), DEFAULT_EVENTS)
    .action((service: string | undefined, options: { limit: number }, command: Command) => events(start(command), service, options.limit))
}

interface ServiceOperation {
  name: string
  description: string
  run: (context: Context, service: string) => Promise<void>
}

const operate =
  (id: 'suspendService' | 'resumeService' | 'restartService', outcomeOf: (name: string) => string): ServiceOperation['run'] =>
  async (context, name) => {
    const service = await resolveService(context, name)
    await context.client.call(id, { params: { serviceId: service.id } })
    if (!context.isJson) context.print(outcomeOf(service.name))
  }

const operations: readonly ServiceOperation[] = [
  {
    name: 'suspend',
    description: 'Stop a service until it is resumed',
    run: operate('suspendService', (name) => clean`Suspended ${name}.`),
  },
  { name: 'resume', description: 'Start a suspended service again', run: operate('resumeService', (name) => clean`Resumed ${name}.`) },
  {
    name: 'restart',
    description: 'Replace all instances without losing a request',
    run: operate('restartService', (name) => clean`Restarting ${name}: new instances take over as soon as they are healthy.`),
  },
]

async function scale(context: Context, name: string, numInstances: number): Promise<void> {
  const service = await resolveService(context, name)
  await context.client.call('scaleService', { params: { serviceId: service.id }, body: { numInstances } })
  if (!context.isJson) context.print(clean`${service.name} is scaled to ${numInstances} ${numInstances === 1 ? 'instance' : 'instances'}.`)
}

async function maintain(context: Context, name: string, maintenanceMode: { enabled: boolean; uri?: string }): Promise<void> {
  const service = await resolveService(context, name)
  const body = { serviceDetails: { maintenanceMode } }
  const updated = await context.client.call('updateService', { params: { serviceId: service.id }, body })
  if (context.isJson) return context.printJson(updated)
  context.print(maintenanceMode.enabled ? clean`${service.name} is in maintenance.` : clean`${service.name} is back from maintenance.`)
}

async function instances(context: Context, name: string | undefined): Promise<void> {
  const service = await resolveService(context, name)
  const page = await context.client.call('listInstances', { params: { serviceId: service.id } })
  const empty = clean`${service.name} has no instances.`
  printList(context, { page, row: (instance) => instance, columns: instanceColumns(context), empty })
}

const instanceColumns = ({ io }: Context): Column<Instance>[] => [
  { title: 'INSTANCE', value: ({ id }) => id },
  { title: 'STATUS', value: ({ status }) => status, colour: ({ status }) => statusColour[status] },
  { title: 'STARTED', value: ({ startedAt }) => (startedAt === undefined ? '-' : ago(startedAt, io.now())) },
  { title: 'RESTARTS', value: ({ restarts }) => String(restarts), align: 'right' },
]

const statusColour = {
  running: 'green',
  starting: 'yellow',
  restarting: 'yellow',
  draining: 'yellow',
  stopped: 'dim',
  standby: 'dim',
  asleep: 'dim',
  crash_looping: 'red',
} as const

const ofServices = eventTypes.filter((type) => !isOfDatastore(type))

async function events(context: Context, name: string | undefined, limit: number): Promise<void> {
  const service = await resolveService(context, name)
  const params = { serviceId: service.id }
  const page = await allPages((query) => context.client.call('listEvents', { params, query: { ...query, type: ofServices } }), limit)
  const empty = clean`Nothing has happened to ${service.name} yet.`
  printList(context, { page, row: ({ event }) => event, columns: eventColumns, empty })
}

const eventColumns: Column<Event>[] = [
  { title: 'TIME', value: ({ timestamp }) => timestamp },
  { title: 'EVENT', value: ({ type }) => type },
  { title: 'DETAILS', value: ({ details }) => detailsText(details), isFlexible: true },
]
