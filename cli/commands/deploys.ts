import { type Command, Option } from 'commander'
import { type Deploy, isDeployRunning } from '../../shared/deploy.ts'
import type { Service } from '../../shared/service.ts'
import { allPages } from '../api/pages.ts'
import { commitText } from '../base/commit.ts'
import { CliError } from '../base/error.ts'
import { ago, formatAge, formatTook } from '../base/figures.ts'
import { present } from '../base/present.ts'
import { liveSourceOf } from '../deploying/live-source.ts'
import { awaitDeploy } from '../deploying/outcome.ts'
import { findBelowService } from '../finding/below-service.ts'
import { resolveService } from '../finding/service.ts'
import { untilProvenOption, wholeNumber } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import type { Paint } from '../terminal/paint.ts'
import { type Column, formatFields } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'

const DEFAULT_DEPLOYS = 20

interface OfService {
  service?: string
}

export function addDeploysCommands(program: Command, start: Start): void {
  const deploys = program.command('deploys').description('See, start and cancel deploys')
  deploys
    .command('list')
    .alias('ls')
    .description('List deploys of a service, newest first')
    .argument('[service]', 'Name or id; default: the one named after this folder')
    .option('-n, --limit <count>', 'How many', wholeNumber(1, 10_000), DEFAULT_DEPLOYS)
    .action((name: string | undefined, options: { limit: number }, command: Command) => list(start(command), name, options.limit))
  deploys
    .command('get')
    .description('Show a deploy')
    .argument('<deploy>', 'Id of the deploy')
    .option('-s, --service <service>', 'Its service; found by itself when left out')
    .action((id: string, options: OfService, command: Command) => get(start(command), id, options))
  deploys
    .command('cancel')
    .description('Cancel a deploy that is on its way')
    .argument('<deploy>', 'Id of the deploy')
    .option('-s, --service <service>', 'Its service; found by itself when left out')
    .action((id: string, options: OfService, command: Command) => cancel(start(command), id, options))
  deploys
    .command('create')
    .description('Deploy the branch of the repository, or the newest uploaded source again')
    .argument('[service]', 'Name or id; default: the one named after this folder')
    .addOption(
      new Option('--from <service>', 'Deploy what is live in another service, by name or id, such as from staging').conflicts('build'),
    )
    .addOption(new Option('--ref <ref>', 'Branch, tag or commit of the repository').conflicts(['from', 'build']))
    .option('--no-build', 'Start the live build again with the present settings')
    .option('--clear-cache', 'Build without what earlier builds left')
    .option('-d, --detach', 'Do not wait until it is live')
    .addOption(untilProvenOption())
    .action((name: string | undefined, options: CreateOptions, command: Command) => create(start(command), name, options))
}

async function list(context: Context, name: string | undefined, limit: number): Promise<void> {
  const service = await resolveService(context, name)
  const page = await allPages((query) => context.client.call('listDeploys', { params: { serviceId: service.id }, query }), limit)
  const hasCommits = page.some(({ deploy }) => commitOf(deploy) !== '')
  const empty = clean`${service.name} has not been deployed yet. Run cpctl deploy in its folder.`
  printList(context, { page, row: ({ deploy }) => deploy, columns: deployColumns(context, hasCommits), empty })
  if (!context.isJson) noteWaiting(context, service)
}

function noteWaiting({ io, note }: Context, { repositoryState }: Service): void {
  const { waiting } = repositoryState ?? {}
  if (waiting === undefined) return
  const { commitId: id, message } = waiting
  note(clean`Commit ${commitText({ id, message })} has waited for ${formatAge(io.now() - Date.parse(waiting.since))} for ${waiting.for}.`)
}

const deployColumns = ({ io }: Context, hasCommits: boolean): Column<Deploy>[] => [
  { title: 'DEPLOY', value: ({ id }) => id },
  {
    title: 'STATUS',
    value: ({ status, guardedUntil }) => (guardedUntil === undefined ? status : `${status} (watched)`),
    colour: statusColour,
  },
  { title: 'TRIGGER', value: ({ trigger }) => trigger },
  ...(hasCommits ? [{ title: 'COMMIT', value: commitOf, isFlexible: true as const }] : []),
  { title: 'CREATED', value: ({ createdAt }) => ago(createdAt, io.now()) },
  { title: 'TOOK', value: tookOf, align: 'right' },
  { title: 'REASON', value: ({ reason }) => reason ?? '', isFlexible: true },
]

const commitOf = ({ commit, ref }: Deploy): string => (commit === undefined ? (ref ?? '') : commitText(commit))

function statusColour({ status }: Deploy): keyof Paint | undefined {
  if (status === 'live') return 'green'
  if (isDeployRunning(status)) return 'yellow'
  return status === 'deactivated' || status === 'canceled' ? 'dim' : 'red'
}

const tookOf = ({ createdAt, finishedAt }: Deploy): string =>
  finishedAt === undefined ? '-' : formatTook(Date.parse(finishedAt) - Date.parse(createdAt))

async function get(context: Context, deployId: string, options: OfService): Promise<void> {
  const { service, deploy } = await findDeploy(context, deployId, options)
  if (context.isJson) return context.printJson(deploy)
  const fields: [string, string | undefined][] = [
    ['Deploy', deploy.id],
    ['Service', `${service.name} (${service.id})`],
    ['Status', deploy.status],
    ['Reason', deploy.reason],
    ['Trigger', deploy.trigger],
    ['Source', deploy.source?.id],
    ['Asked for', deploy.ref],
    ['Commit', deploy.commit?.id],
    ['Author', deploy.commit?.author],
    ['Committed', deploy.commit?.createdAt],
    ['Message', deploy.commit?.message.split('\n', 1)[0]],
    ['Rollback of', deploy.rollbackOf],
    ['Created', deploy.createdAt],
    ['Started', deploy.startedAt],
    ['Finished', deploy.finishedAt],
    ['Took', tookOf(deploy)],
    ['Watched until', deploy.guardedUntil],
  ]
  context.io.stdout.write(formatFields(fields, context.paint))
}

async function cancel(context: Context, deployId: string, options: OfService): Promise<void> {
  const { service } = await findDeploy(context, deployId, options)
  const deploy = await context.client.call('cancelDeploy', { params: { serviceId: service.id, deployId } })
  if (context.isJson) context.printJson(deploy)
  else context.print(clean`Canceled ${deploy.id} of ${service.name}.`)
}

interface CreateOptions {
  from?: string
  ref?: string
  build: boolean
  clearCache?: boolean
  detach?: boolean
  untilProven?: boolean
}

async function create(context: Context, name: string | undefined, options: CreateOptions): Promise<void> {
  const service = await resolveService(context, name)
  const body = present({
    sourceId: options.from === undefined ? undefined : await sourceFrom(context, options.from),
    ref: options.ref,
    clearCache: options.clearCache ? ('clear' as const) : undefined,
    deployMode: options.build ? undefined : ('deploy_only' as const),
  })
  const deploy = await context.client.call('createDeploy', { params: { serviceId: service.id }, body })
  const { detach: isDetached = false, untilProven = false } = options
  await awaitDeploy(context, { service, deployId: deploy.id, isDetached, untilProven })
}

async function sourceFrom(context: Context, name: string): Promise<string> {
  const service = await resolveService(context, name)
  const sourceId = await liveSourceOf(context, service)
  if (sourceId === undefined) throw new CliError('conflict', `Nothing is live in ${service.name}.`, { hint: 'Deploy it first.' })
  return sourceId
}

interface Found {
  service: Service
  deploy: Deploy
}

async function findDeploy(context: Context, deployId: string, options: OfService): Promise<Found> {
  const ask = ({ id }: Service) => context.client.call('getDeploy', { params: { serviceId: id, deployId } })
  const { service, found } = await findBelowService(context, { kind: 'deploy', id: deployId, of: options.service, ask })
  return { service, deploy: found }
}
