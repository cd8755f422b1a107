import type { Command } from 'commander'
import type { EventType } from '../../shared/event.ts'
import type { Webhook, WebhookPatch } from '../../shared/webhook.ts'
import { usageError } from '../base/error.ts'
import { present } from '../base/present.ts'
import { scopesInWords } from '../finding/scope.ts'
import { type Places, placeIds, resolveWebhook, webhooksOf } from '../finding/webhooks.ts'
import { gatherEventTypes } from '../options/event-types.ts'
import { gather } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import { confirmByName } from '../session/prompt.ts'
import { type Column, formatFields } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'
import { addDeliveryCommands } from './webhook-deliveries.ts'

const examples = `
Examples:
  $ cpctl webhooks create chat https://example.com/hooks --event deploy_ended,server_failed --project shop
  $ cpctl webhooks test chat
  $ cpctl webhooks deliveries chat`

export function addWebhookCommands(program: Command, start: Start): void {
  const webhooks = program.command('webhooks').alias('webhook').description('Webhooks: events as signed requests to a URL')
  webhooks.addHelpText('after', examples)
  webhooks
    .command('list')
    .alias('ls')
    .description('List webhooks')
    .action((_: unknown, command: Command) => list(start(command)))
  withPlaces(webhooks.command('create').description('Have events sent to a URL; the secret is printed once'))
    .argument('<name>', 'What it is for')
    .argument('<url>', 'Where events are sent, over https')
    .option('--disabled', 'Send nothing until it is enabled')
    .action((name: string, url: string, options: CreateOptions, command: Command) => create(start(command), { name, url }, options))
  const of = (name: string, description: string) => webhooks.command(name).description(description).argument('<webhook>', 'Name or id')
  of('show', 'Show a webhook')
    .alias('get')
    .action((name: string, _: unknown, command: Command) => show(start(command), name))
  withPlaces(of('update', 'Change what a webhook is sent, and where'))
    .option('--name <name>', 'New name')
    .option('--to <url>', 'New URL')
    .option('--all-events', 'Send it events of every type')
    .option('--everywhere', 'Send it events of the whole workspace')
    .action((name: string, options: UpdateOptions, command: Command) => update(start(command), name, options))
  of('enable', 'Send events again, those that are to come').action((name: string, _: unknown, command: Command) =>
    turn(start(command), name, true),
  )
  of('disable', 'Send nothing any more').action((name: string, _: unknown, command: Command) => turn(start(command), name, false))
  of('delete', 'Delete a webhook with what is known of its deliveries')
    .alias('rm')
    .option('-y, --yes', 'Do not ask')
    .action((name: string, options: { yes?: boolean }, command: Command) => remove(start(command), name, options.yes === true))
  addDeliveryCommands(webhooks, start)
}

const withPlaces = (command: Command): Command =>
  command
    .option('--event <types>', 'Only events of these types, such as deploy_ended; several comma-joined or repeated', gatherEventTypes)
    .option('--service <services>', 'Only events of these services, by name or id', gather)
    .option('--environment <environments>', 'Only events in these environments, by name, project/name or id', gather)
    .option('--project <projects>', 'Only events in these projects, by name or id', gather)

const stateOf = ({ enabled, disabledReason }: Webhook): string =>
  enabled ? 'enabled' : disabledReason === undefined ? 'disabled' : `disabled: ${disabledReason}`

const columns: Column<Webhook>[] = [
  { title: 'NAME', value: ({ name }) => name, colour: () => 'bold' },
  { title: 'URL', value: ({ url }) => url, isFlexible: true },
  { title: 'EVENTS', value: ({ eventFilter }) => eventsInWords(eventFilter), isFlexible: true },
  { title: 'STATE', value: stateOf, isFlexible: true, colour: ({ enabled }) => (enabled ? undefined : 'yellow') },
  { title: 'ID', value: ({ id }) => id },
]

const eventsInWords = (types: readonly string[]): string => (types.length === 0 ? 'all' : types.join(', '))

async function list(context: Context): Promise<void> {
  const empty = 'No webhooks yet. Make one with cpctl webhooks create <name> <url>.'
  printList(context, { page: await webhooksOf(context), row: (webhook) => webhook, columns, empty })
}

interface CreateOptions extends Places {
  event?: EventType[]
  disabled?: boolean
}

/** The secret alone goes to standard output, so that it can be piped to where it belongs. */
async function create(context: Context, named: { name: string; url: string }, options: CreateOptions): Promise<void> {
  const places = await placeIds(context, options)
  const body = { ...named, ...places, ...present({ eventFilter: options.event }), enabled: options.disabled !== true }
  const webhook = await context.client.call('createWebhook', { body })
  if (context.isJson) return context.printJson(webhook)
  context.note(clean`Created ${webhook.name} (${webhook.id}). Keep the secret, with which the receiver verifies: it is not shown again.`)
  context.print(clean`${webhook.secret}`)
}

async function show(context: Context, nameOrId: string): Promise<void> {
  const webhook = await resolveWebhook(context, nameOrId)
  if (context.isJson) return context.printJson(webhook)
  const { serviceIds, environmentIds, projectIds } = webhook
  const scope = [...serviceIds, ...environmentIds, ...projectIds].length === 0 ? null : { serviceIds, environmentIds, projectIds }
  const fields: [string, string | undefined][] = [
    ['Name', webhook.name],
    ['Id', webhook.id],
    ['URL', webhook.url],
    ['Events', eventsInWords(webhook.eventFilter)],
    ['Of', scope === null ? 'the whole workspace' : (await scopesInWords(context, [scope]))(scope)],
    ['State', stateOf(webhook)],
    ['Old secret until', webhook.previousSecretExpiresAt],
    ['Created', webhook.createdAt],
    ['Updated', webhook.updatedAt],
  ]
  context.io.stdout.write(formatFields(fields, context.paint))
}

interface UpdateOptions extends Places {
  name?: string
  to?: string
  event?: EventType[]
  allEvents?: boolean
  everywhere?: boolean
}

async function update(context: Context, nameOrId: string, options: UpdateOptions): Promise<void> {
  const { id } = await resolveWebhook(context, nameOrId)
  const places = options.everywhere ? { serviceIds: [], environmentIds: [], projectIds: [] } : await placeIds(context, options)
  const eventFilter = options.allEvents ? [] : options.event
  const body: WebhookPatch = { ...present({ name: options.name, url: options.to, eventFilter }), ...places }
  if (Object.keys(body).length === 0) throw usageError('Nothing to change was given.', 'Run cpctl webhooks update --help for what can be.')
  const webhook = await context.client.call('updateWebhook', { params: { webhookId: id }, body })
  if (context.isJson) context.printJson(webhook)
  else context.print(clean`Updated ${webhook.name}.`)
}

async function turn(context: Context, nameOrId: string, enabled: boolean): Promise<void> {
  const { id } = await resolveWebhook(context, nameOrId)
  const webhook = await context.client.call('updateWebhook', { params: { webhookId: id }, body: { enabled } })
  if (context.isJson) return context.printJson(webhook)
  context.print(clean`${enabled ? 'Enabled' : 'Disabled'} ${webhook.name}.`)
  if (enabled) context.note(clean`For what happened meanwhile: cpctl webhooks resend ${webhook.name} --from <time> --missed`)
}

async function remove(context: Context, nameOrId: string, isConfirmed: boolean): Promise<void> {
  const webhook = await resolveWebhook(context, nameOrId)
  await confirmByName(context, webhook.name, isConfirmed)
  await context.client.call('deleteWebhook', { params: { webhookId: webhook.id } })
  if (!context.isJson) context.print(clean`Deleted ${webhook.name}.`)
}
