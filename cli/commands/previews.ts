import { type Command, Option } from 'commander'
import type { Preview } from '../../shared/preview.ts'
import { allPages } from '../api/pages.ts'
import { usageError } from '../base/error.ts'
import { addServiceOption, type OfService, resolveService, serviceNamed } from '../finding/service.ts'
import { parsePairs } from '../options/env-pairs.ts'
import { wholeNumber } from '../options/values.ts'
import { awaitPreview } from '../previews/outcome.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import { confirmByName } from '../session/prompt.ts'
import type { Column } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'

const examples = `
Examples:
  $ cpctl services update web --previews automatic --previews-expire 7
  $ cpctl previews set STRIPE_KEY=sandbox --service web   # what it is in previews; all that a fork is given
  $ cpctl previews list web
  $ cpctl previews approve 12 --commit 059687b45a782744267f583f97d2a0d0b2e820fe --service web`

interface WaitOptions extends OfService {
  detach?: boolean
}

interface ApproveOptions extends WaitOptions {
  commit: string
}

export function addPreviewCommands(program: Command, start: Start): void {
  const previews = program.command('previews').description('Services that show pull requests').addHelpText('after', examples)
  const add = (name: string, description: string) => addServiceOption(previews.command(name).description(description))
  const addOfRequest = (name: string, description: string) =>
    add(name, description).argument('<request>', 'Number of the pull request', wholeNumber(1, MOST))
  const detach = () => new Option('-d, --detach', 'Do not wait until it is live')
  add('list', 'List pull requests and how their previews stand')
    .alias('ls')
    .argument('[service]', 'Name or id; default: the one named after this folder')
    .action((name: string | undefined, options: OfService, command: Command) => list(start(command), name, options))
  addOfRequest('create', 'Show a request, where previews are made by hand')
    .addOption(detach())
    .action((request: number, options: WaitOptions, command: Command) => create(start(command), request, options))
  addOfRequest('approve', 'Have one commit of a fork built and run')
    .requiredOption('--commit <commit>', 'The commit that was looked at, whole')
    .addOption(detach())
    .action((request: number, options: ApproveOptions, command: Command) => approve(start(command), request, options))
  addOfRequest('delete', 'Delete a preview, until the next push')
    .option('-y, --yes', 'Do not ask')
    .action((request: number, options: OfService & { yes?: boolean }, command: Command) => remove(start(command), request, options))
  add('values', 'List what variables are in previews')
    .option('--show', 'Show the values')
    .action((options: OfService & { show?: boolean }, command: Command) => values(start(command), options))
  add('set', 'Say what variables are in previews')
    .argument('<KEY=value...>', 'Variables')
    .action((words: string[], options: OfService, command: Command) => set(start(command), words, options))
  add('unset', 'Have variables be in previews what they are elsewhere')
    .argument('<KEY...>', 'Names of variables')
    .action((keys: string[], options: OfService, command: Command) => unset(start(command), keys, options))
}

const MOST = 999_999_999
const SHORT_ID = 8

const serviceOf = (context: Context, options: OfService, name?: string) => resolveService(context, serviceNamed(name, options))

const columns: Column<Preview>[] = [
  { title: 'REQUEST', value: ({ number }) => `#${number}`, colour: () => 'bold' },
  { title: 'STATUS', value: ({ status }) => status, colour: ({ status }) => (status === 'live' ? 'green' : undefined) },
  { title: 'TITLE', value: ({ title }) => title, isFlexible: true },
  { title: 'FROM', value: ({ fork, repository, branch }) => (fork ? `${repository}:${branch}` : branch), isFlexible: true },
  { title: 'COMMIT', value: ({ status, commitId }) => (status === 'awaiting_approval' ? commitId : commitId.slice(0, SHORT_ID)) },
  { title: 'URL', value: ({ service, problem }) => problem ?? service?.url ?? '', isFlexible: true },
]

async function list(context: Context, name: string | undefined, options: OfService): Promise<void> {
  const { id: serviceId } = await serviceOf(context, options, name)
  const page = await allPages((query) => context.client.call('listPreviews', { params: { serviceId }, query }))
  const empty = 'No requests are known. cpctl services update --previews automatic shows those to the branch of the service.'
  printList(context, { page, row: ({ preview }) => preview, columns, empty })
}

async function create(context: Context, number: number, options: WaitOptions): Promise<void> {
  const { id: serviceId } = await serviceOf(context, options)
  const preview = await context.client.call('createPreview', { params: { serviceId }, body: { number } })
  await awaitPreview(context, preview, options.detach === true)
}

async function approve(context: Context, number: number, { commit, detach, ...options }: ApproveOptions): Promise<void> {
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(commit))
    throw usageError('Give the whole id of the commit that was looked at.', 'cpctl previews list shows it.')
  const { id: serviceId } = await serviceOf(context, options)
  const params = { serviceId, request: String(number) }
  const preview = await context.client.call('approvePreview', { params, body: { commitId: commit } })
  await awaitPreview(context, preview, detach === true)
}

async function remove(context: Context, number: number, options: OfService & { yes?: boolean }): Promise<void> {
  const { id: serviceId, name } = await serviceOf(context, options)
  await confirmByName(context, `${name}#${number}`, options.yes === true)
  await context.client.call('deletePreview', { params: { serviceId, request: String(number) } })
  if (!context.isJson)
    context.print(clean`The preview of request ${String(number)} of ${name} is being deleted. The next push makes one again.`)
}

async function values(context: Context, options: OfService & { show?: boolean }): Promise<void> {
  const { id: serviceId } = await serviceOf(context, options)
  const page = await allPages((query) => context.client.call('listPreviewValues', { params: { serviceId }, query }))
  const shown = ({ value, hidden }: { value: string; hidden?: true }) => (options.show === true && hidden !== true ? value : '(hidden)')
  printList(context, {
    page,
    row: ({ previewValue }) => previewValue,
    columns: [
      { title: 'KEY', value: ({ key }) => key, colour: () => 'bold' },
      { title: 'VALUE IN PREVIEWS', value: shown, isFlexible: true },
    ],
    empty: 'Variables are in previews what they are elsewhere; previews of forks are given none.',
  })
}

async function set(context: Context, words: readonly string[], options: OfService): Promise<void> {
  const pairs = parsePairs(words)
  const { id: serviceId, name } = await serviceOf(context, options)
  for (const { key, value } of pairs) await context.client.call('setPreviewValue', { params: { serviceId, key }, body: { value } })
  told(context, { keys: pairs.map(({ key }) => key), what: 'Set', name })
}

async function unset(context: Context, keys: readonly string[], options: OfService): Promise<void> {
  const { id: serviceId, name } = await serviceOf(context, options)
  for (const key of keys) await context.client.call('deletePreviewValue', { params: { serviceId, key } })
  told(context, { keys, what: 'Removed', name })
}

function told(context: Context, { keys, what, name }: { keys: readonly string[]; what: string; name: string }): void {
  if (!context.isJson) context.print(clean`${what} ${keys.join(', ')} of the previews of ${name}.`)
  context.note('It takes effect with the next deploy of each preview.')
}
