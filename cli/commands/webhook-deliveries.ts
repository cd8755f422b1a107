import type { Command } from 'commander'
import { isId } from '../../shared/id.ts'
import { bothSecretsHours, type WebhookEvent } from '../../shared/webhook.ts'
import { pages } from '../api/pages.ts'
import { CliError, usageError } from '../base/error.ts'
import { ago } from '../base/figures.ts'
import { present } from '../base/present.ts'
import { resolveWebhook } from '../finding/webhooks.ts'
import { timeBefore, wholeNumber } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import type { Column } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'

const DEFAULT_SHOWN = 20
const MOST_SHOWN = 10_000

export function addDeliveryCommands(webhooks: Command, start: Start): void {
  const of = (name: string, description: string) => webhooks.command(name).description(description).argument('<webhook>', 'Name or id')
  const time = (text: string): string => timeBefore(Date.now)(text)
  of('test', 'Send a test event at once, and show the answer').action((name: string, _: unknown, command: Command) =>
    sendTest(start(command), name),
  )
  of('rotate', `Make a new secret, which is printed once; the old one signs as well for ${bothSecretsHours} hours`).action(
    (name: string, _: unknown, command: Command) => rotate(start(command), name),
  )
  of('deliveries', 'Show what was sent, attempt by attempt, newest first')
    .option('--since <when>', 'Only after this time, or as long ago, such as 2h', time)
    .option('--until <when>', 'Only before this time, or as long ago', time)
    .option('-n, --limit <count>', 'How many at most', wholeNumber(1, MOST_SHOWN), DEFAULT_SHOWN)
    .action((name: string, options: ShowOptions, command: Command) => deliveries(start(command), name, options))
  of('resend', 'Send an event again, or those of a time')
    .argument('[event]', 'Id of the event')
    .option('--from <when>', 'From this time on, or as long ago, such as 2h', time)
    .option('--to <when>', 'Up to this time; default: now', time)
    .option('--missed', 'Only what was not delivered')
    .action((name: string, event: string | undefined, options: ResendOptions, command: Command) =>
      resend(start(command), { name, event }, options),
    )
}

const outcomeOf = ({ statusCode, error }: WebhookEvent): string =>
  error === undefined ? `delivered (${statusCode})` : statusCode === undefined ? error : `${statusCode}: ${error}`

const columnsAt = (now: number): Column<WebhookEvent>[] => [
  { title: 'SENT', value: ({ sentAt }) => ago(sentAt, now) },
  { title: 'EVENT', value: ({ eventType }) => eventType },
  { title: 'ID', value: ({ eventId }) => eventId },
  { title: 'ATTEMPT', value: ({ attempt }) => String(attempt), align: 'right' },
  { title: 'TOOK', value: ({ durationMs }) => `${durationMs} ms`, align: 'right' },
  { title: 'OUTCOME', value: outcomeOf, isFlexible: true, colour: ({ error }) => (error === undefined ? undefined : 'red') },
  { title: 'AGAIN AT', value: ({ nextAttemptAt }) => nextAttemptAt ?? '-' },
]

async function sendTest(context: Context, nameOrId: string): Promise<void> {
  const { id, name } = await resolveWebhook(context, nameOrId)
  const sent = await context.client.call('testWebhook', { params: { webhookId: id } })
  if (context.isJson) context.printJson(sent)
  if (sent.error !== undefined) throw new CliError('conflict', `${name} did not take it. ${sent.error}`, { hint: answerOf(sent) })
  if (!context.isJson) context.print(clean`${name} took it: ${String(sent.statusCode)} in ${String(sent.durationMs)} ms.`)
}

const answerOf = ({ responseBody = '' }: WebhookEvent): string =>
  responseBody === '' ? 'There was no answer to show.' : clean`The answer was: ${responseBody}`

async function rotate(context: Context, nameOrId: string): Promise<void> {
  const { id } = await resolveWebhook(context, nameOrId)
  const webhook = await context.client.call('rotateWebhookSecret', { params: { webhookId: id } })
  if (context.isJson) return context.printJson(webhook)
  context.note(clean`${webhook.name} has a new secret. The old one signs as well until ${webhook.previousSecretExpiresAt ?? 'now'}.`)
  context.print(clean`${webhook.secret}`)
}

interface ShowOptions {
  since?: string
  until?: string
  limit: number
}

async function deliveries(context: Context, nameOrId: string, { since, until, limit }: ShowOptions): Promise<void> {
  const { id, name } = await resolveWebhook(context, nameOrId)
  const range = present({ sentAfter: since, sentBefore: until })
  const asked = pages(
    (query) => context.client.call('listWebhookEvents', { params: { webhookId: id }, query: { ...query, ...range } }),
    limit,
  )
  const page = (await Array.fromAsync(asked)).map(({ webhookEvent }) => webhookEvent)
  const empty = clean`Nothing was sent to ${name} in this time. To send something: cpctl webhooks test ${name}`
  printList(context, { page, row: (sent) => sent, columns: columnsAt(context.io.now()), empty })
}

interface ResendOptions {
  from?: string
  to?: string
  missed?: boolean
}

async function resend(
  context: Context,
  { name, event }: { name: string; event: string | undefined },
  options: ResendOptions,
): Promise<void> {
  if (event === undefined && options.from === undefined)
    throw usageError('Say what is to be sent again: the id of an event, or --from.', 'cpctl webhooks deliveries shows what was sent.')
  if (event !== undefined && !isId('event', event)) throw usageError(`${event} is not the id of an event.`, 'It begins with evt-.')
  if (event !== undefined && Object.keys(options).length > 0) throw usageError('Give an event, or --from, and not both.')
  const webhook = await resolveWebhook(context, name)
  const body = present({ eventId: event, from: options.from, to: options.to, onlyMissed: options.missed })
  await context.client.call('resendWebhookEvents', { params: { webhookId: webhook.id }, body })
  if (context.isJson) return
  context.print(clean`${webhook.name} is being sent ${event === undefined ? 'these events' : event} again.`)
  context.note(clean`To see how that goes: cpctl webhooks deliveries ${webhook.name}`)
}
