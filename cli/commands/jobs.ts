import type { Command } from 'commander'
import { isJobOver, type Job, type JobStatus, jobStatuses } from '../../shared/job.ts'
import type { Service } from '../../shared/service.ts'
import { allPages } from '../api/pages.ts'
import { ago, formatTook } from '../base/figures.ts'
import { present } from '../base/present.ts'
import { findBelowService } from '../finding/below-service.ts'
import { resolveService } from '../finding/service.ts'
import { awaitJob } from '../jobs/follow.ts'
import { logsSince } from '../logs/history.ts'
import { gatherOf, wholeNumber } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import type { Paint } from '../terminal/paint.ts'
import { type Column, formatFields } from '../terminal/table.ts'
import { clean, cleanJsonLine, cleanText } from '../terminal/text.ts'

const DEFAULT_JOBS = 20

interface OfService {
  service?: string
}

export function addJobCommands(program: Command, start: Start): void {
  const jobs = program.command('jobs').alias('job').description('See and cancel one-off jobs; cpctl run makes them')
  jobs
    .command('list')
    .alias('ls')
    .description('List jobs of a service, newest first')
    .argument('[service]', 'Name or id; default: the one named after this folder')
    .option('-n, --limit <count>', 'How many', wholeNumber(1, 10_000), DEFAULT_JOBS)
    .option('--status <statuses>', `Only these: ${jobStatuses.join(', ')}`, gatherOf(jobStatuses))
    .action((name: string | undefined, options: ListOptions, command: Command) => list(start(command), name, options))
  const addOf = (name: string, description: string) =>
    jobs
      .command(name)
      .description(description)
      .argument('<job>', 'Id of the job')
      .option('-s, --service <service>', 'Its service; found by itself when left out')
  addOf('get', 'Show a job').action((id: string, options: OfService, command: Command) => get(start(command), id, options))
  addOf('cancel', 'Cancel a job: SIGTERM, and SIGKILL when it does not end').action((id: string, options: OfService, command: Command) =>
    cancel(start(command), id, options),
  )
  addOf('logs', 'Show what a job wrote')
    .option('-f, --follow', 'Go on until it is over, and end with its exit code; Ctrl-C cancels it')
    .action((id: string, options: OfService & { follow?: boolean }, command: Command) => logs(start(command), id, options))
}

interface ListOptions {
  limit: number
  status?: JobStatus[]
}

async function list(context: Context, name: string | undefined, { limit, status }: ListOptions): Promise<void> {
  const service = await resolveService(context, name)
  const params = { serviceId: service.id }
  const page = await allPages((query) => context.client.call('listJobs', { params, query: { ...query, ...present({ status }) } }), limit)
  const empty = clean`${service.name} has had no such jobs. Run one with cpctl run ${service.name} -- <command>.`
  printList(context, { page, row: ({ job }) => job, columns: jobColumns(context), empty })
}

const jobColumns = ({ io }: Context): Column<Job>[] => [
  { title: 'JOB', value: ({ id }) => id },
  { title: 'STATUS', value: ({ status }) => status, colour: ({ status }) => statusColours[status] },
  { title: 'EXIT', value: ({ exitCode }) => exitCode?.toString() ?? '-', align: 'right' },
  { title: 'CREATED', value: ({ createdAt }) => ago(createdAt, io.now()) },
  { title: 'TOOK', value: tookOf, align: 'right' },
  { title: 'COMMAND', value: ({ startCommand }) => startCommand, isFlexible: true },
]

const statusColours: Record<JobStatus, keyof Paint> = {
  pending: 'yellow',
  running: 'yellow',
  succeeded: 'green',
  failed: 'red',
  canceled: 'dim',
}

export const tookOf = ({ startedAt, finishedAt }: Pick<Job, 'startedAt' | 'finishedAt'>): string =>
  startedAt === undefined || finishedAt === undefined ? '-' : formatTook(Date.parse(finishedAt) - Date.parse(startedAt))

async function get(context: Context, jobId: string, options: OfService): Promise<void> {
  const { service, job } = await findJob(context, jobId, options)
  if (context.isJson) return context.printJson(job)
  const fields: [string, string | undefined][] = [
    ['Job', job.id],
    ['Service', `${service.name} (${service.id})`],
    ['Command', job.startCommand],
    ['Status', job.status],
    ['Exit code', job.exitCode?.toString()],
    ['Reason', job.reason],
    ['Plan', job.planId],
    ['Created', job.createdAt],
    ['Started', job.startedAt],
    ['Finished', job.finishedAt],
    ['Took', tookOf(job)],
  ]
  context.io.stdout.write(formatFields(fields, context.paint))
}

async function cancel(context: Context, jobId: string, options: OfService): Promise<void> {
  const { service } = await findJob(context, jobId, options)
  const job = await context.client.call('cancelJob', { params: { serviceId: service.id, jobId } })
  if (context.isJson) return context.printJson(job)
  context.print(isJobOver(job.status) ? clean`Canceled ${job.id} of ${service.name}.` : clean`Canceling ${job.id} of ${service.name}.`)
}

async function logs(context: Context, jobId: string, { follow, ...options }: OfService & { follow?: boolean }): Promise<void> {
  const { service, job } = await findJob(context, jobId, options)
  if (follow) return await awaitJob(context, service, job)
  const filters = { resource: [service.id], instance: [job.id], startTime: job.createdAt }
  for await (const log of logsSince(context.client, filters)) context.print(context.isJson ? cleanJsonLine(log) : cleanText(log.message))
}

async function findJob(context: Context, jobId: string, options: OfService): Promise<{ service: Service; job: Job }> {
  const ask = ({ id }: Service) => context.client.call('getJob', { params: { serviceId: id, jobId } })
  const { service, found } = await findBelowService(context, { kind: 'job', id: jobId, of: options.service, ask })
  return { service, job: found }
}
