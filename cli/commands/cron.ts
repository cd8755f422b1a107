import { type Command, Option } from 'commander'
import { type CronJobRun, type CronRunStatus, type OverlapPolicy, overlapPolicies } from '../../shared/cron.ts'
import type { Service } from '../../shared/service.ts'
import { typesWith } from '../../shared/service-type.ts'
import { allPages } from '../api/pages.ts'
import { usageError } from '../base/error.ts'
import { ago, formatAge } from '../base/figures.ts'
import { present } from '../base/present.ts'
import { resolveService } from '../finding/service.ts'
import { endAs, followJob } from '../jobs/follow.ts'
import { addPlaceFilter, emptyIn, type PlaceOptions, placeFilter } from '../options/place.ts'
import { wholeNumber } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import type { Paint } from '../terminal/paint.ts'
import type { Column } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'
import { tookOf } from './jobs.ts'

const DEFAULT_RUNS = 20

export function addCronCommands(program: Command, start: Start): void {
  const cron = program.command('cron').description('See, run and schedule cron jobs')
  addPlaceFilter(cron.command('list').alias('ls').description('List cron jobs with their schedules')).action(
    (options: PlaceOptions, command: Command) => list(start(command), options),
  )
  cron
    .command('runs')
    .description('List runs of a cron job, newest first')
    .argument('[service]', 'Name or id; default: the one named after this folder')
    .option('-n, --limit <count>', 'How many', wholeNumber(1, 10_000), DEFAULT_RUNS)
    .action((name: string | undefined, options: { limit: number }, command: Command) => runs(start(command), name, options.limit))
  cron
    .command('trigger')
    .description('Run a cron job now, beside its schedule')
    .argument('<service>', 'Name or id')
    .option('-f, --follow', 'Show what it writes until it is over, and end with its exit code; Ctrl-C cancels it')
    .action((name: string, options: { follow?: boolean }, command: Command) => trigger(start(command), name, options))
  cron
    .command('cancel')
    .description('Cancel the runs of a cron job that are under way')
    .argument('<service>', 'Name or id')
    .action((name: string, _: unknown, command: Command) => cancel(start(command), name))
  cron
    .command('set')
    .description('Change when a cron job runs; takes effect at once')
    .argument('<service>', 'Name or id')
    .argument('[schedule]', "Five fields in quotes, such as '0 3 * * *', or @hourly, @daily, @weekly, @monthly")
    .option('--timezone <zone>', 'IANA time zone in which the schedule is read, such as Europe/Berlin')
    .addOption(new Option('--overlap <policy>', 'What happens to a run while another is under way').choices(overlapPolicies))
    .action((name: string, schedule: string | undefined, options: SetOptions, command: Command) =>
      set(start(command), name, { ...options, ...present({ schedule }) }),
    )
}

async function list(context: Context, options: PlaceOptions): Promise<void> {
  const filter = { type: typesWith('isScheduled'), ...(await placeFilter(context, options)) }
  const page = await allPages((query) => context.client.call('listServices', { query: { ...query, ...filter } }))
  const advice = "No cron jobs yet. Make one with cpctl services create <name> --type cron_job --schedule '0 3 * * *'."
  const empty = emptyIn(options, advice)
  printList(context, { page, row: ({ service }) => service, columns: cronColumns(context), empty })
}

const cronColumns = ({ io }: Context): Column<Service>[] => [
  { title: 'NAME', value: ({ name }) => name, isFlexible: true, colour: () => 'bold' },
  { title: 'SCHEDULE', value: ({ serviceDetails }) => serviceDetails.schedule ?? '-' },
  { title: 'TIME ZONE', value: ({ serviceDetails }) => serviceDetails.timezone ?? '-' },
  { title: 'OVERLAP', value: ({ serviceDetails }) => serviceDetails.overlapPolicy ?? '-' },
  { title: 'NEXT RUN', value: (service) => nextText(service, io.now()) },
  {
    title: 'LAST SUCCESS',
    value: ({ serviceDetails: { lastSuccessfulRunAt: at } }) => (at === undefined ? '-' : ago(at, io.now())),
  },
]

function nextText({ suspended, serviceDetails: { nextRunAt } }: Service, now: number): string {
  if (suspended === 'suspended') return 'suspended'
  return nextRunAt === undefined ? 'not deployed' : `in ${formatAge(Date.parse(nextRunAt) - now)}`
}

async function runs(context: Context, name: string | undefined, limit: number): Promise<void> {
  const service = await resolveService(context, name)
  const page = await allPages((query) => context.client.call('listCronJobRuns', { params: { serviceId: service.id }, query }), limit)
  const empty = clean`${service.name} has not run yet. Run it now with cpctl cron trigger ${service.name}.`
  printList(context, { page, row: ({ cronJobRun }) => cronJobRun, columns: runColumns(context), empty })
}

const runColumns = ({ io }: Context): Column<CronJobRun>[] => [
  { title: 'RUN', value: ({ id }) => id },
  { title: 'STATUS', value: ({ status }) => status, colour: ({ status }) => statusColours[status] },
  { title: 'EXIT', value: ({ exitCode }) => exitCode?.toString() ?? '-', align: 'right' },
  { title: 'TRIGGERED BY', value: ({ triggeredBy }) => triggeredBy },
  { title: 'STARTED', value: ({ startedAt }) => (startedAt === undefined ? '-' : ago(startedAt, io.now())) },
  { title: 'TOOK', value: tookOf, align: 'right' },
  { title: 'REASON', value: ({ reason }) => reason ?? '', isFlexible: true },
]

const statusColours: Record<CronRunStatus, keyof Paint> = {
  pending: 'yellow',
  successful: 'green',
  unsuccessful: 'red',
  canceled: 'dim',
}

async function trigger(context: Context, name: string, { follow }: { follow?: boolean }): Promise<void> {
  const service = await resolveService(context, name)
  const params = { serviceId: service.id }
  const run = await context.client.call('runCronJob', { params })
  if (!follow) {
    if (context.isJson) context.printJson(run)
    else context.print(clean`Run ${run.id} of ${service.name} has begun. Its lines: cpctl logs ${service.name} --instance ${run.id}`)
    return
  }
  const ended = await followJob<CronJobRun>(context, {
    service,
    first: run,
    since: run.createdAt,
    ask: async (client) =>
      (await client.call('listCronJobRuns', { params })).find(({ cronJobRun: { id } }) => id === run.id)?.cronJobRun ?? run,
    isOver: ({ status }) => status !== 'pending',
    cancel: (client) => client.call('cancelCronJobRuns', { params }),
  })
  if (context.isJson) context.printJson(ended)
  endAs(ended, ended.status === 'successful')
}

async function cancel(context: Context, name: string): Promise<void> {
  const service = await resolveService(context, name)
  await context.client.call('cancelCronJobRuns', { params: { serviceId: service.id } })
  if (!context.isJson) context.print(clean`Runs of ${service.name} that were under way are being canceled.`)
}

interface SetOptions {
  schedule?: string
  timezone?: string
  overlap?: OverlapPolicy
}

async function set(context: Context, name: string, { schedule, timezone, overlap }: SetOptions): Promise<void> {
  const serviceDetails = present({ schedule, timezone, overlapPolicy: overlap })
  if (Object.keys(serviceDetails).length === 0)
    throw usageError('Nothing to change was given.', 'Run cpctl cron set --help for what can be.')
  const service = await resolveService(context, name)
  const updated = await context.client.call('updateService', { params: { serviceId: service.id }, body: { serviceDetails } })
  if (context.isJson) return context.printJson(updated)
  const details = updated.serviceDetails
  context.print(
    clean`${updated.name} runs at ${details.schedule ?? ''} in ${details.timezone ?? ''}; overlaps: ${details.overlapPolicy ?? ''}.`,
  )
}
