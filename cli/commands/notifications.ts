import { type Command, Option } from 'commander'
import {
  type NotificationOverrides,
  type NotificationSettings,
  type NotificationSettingsPatch,
  type NotificationTest,
  notificationLevels,
} from '../../shared/notification.ts'
import { CliError, usageError } from '../base/error.ts'
import { present } from '../base/present.ts'
import { resolveService } from '../finding/service.ts'
import type { Context, Start } from '../session/context.ts'
import { formatFields } from '../terminal/table.ts'
import { clean, cleanText } from '../terminal/text.ts'

interface ShowOptions {
  service?: string
}

interface SetOptions extends ShowOptions {
  level?: 'default' | 'none' | 'failure' | 'all'
  mail?: boolean
  slackUrl?: string | false
  discordUrl?: string | false
}

const examples = `
Examples:
  $ cpctl notifications set --slack-url https://hooks.slack.com/services/…
  $ cpctl notifications set --service web --level none
  $ cpctl notifications test`

export function addNotificationCommands(program: Command, start: Start): void {
  const notifications = program
    .command('notifications')
    .description('What people are told of services, and where')
    .addHelpText('after', examples)
  notifications
    .command('show')
    .description('Show what people of the workspace are told, or of one service')
    .option('-s, --service <service>', 'Of this service, by name or id')
    .action((options: ShowOptions, command: Command) => show(start(command), options))
  notifications
    .command('set')
    .description('Change what people are told, and where; URLs of - are read from standard input')
    .option('-s, --service <service>', 'Only of this service, by name or id')
    .addOption(
      new Option(
        '--level <level>',
        'none; failure: what fails, and that it is over; all: releases that go live as well; default: as of the workspace',
      ).choices(['default', ...notificationLevels]),
    )
    .option('--mail', 'Send mail to members, each as long as they want it')
    .option('--no-mail', 'Send no mail to anybody')
    .option('--slack-url <url>', 'Incoming webhook of Slack, or of what takes the same')
    .option('--no-slack-url', 'Tell Slack nothing')
    .option('--discord-url <url>', 'Webhook of Discord, or of what takes the same')
    .option('--no-discord-url', 'Tell Discord nothing')
    .action((options: SetOptions, command: Command) => set(start(command), options))
  notifications
    .command('test')
    .description('Send a message everywhere at once, by mail to you alone, and tell how it went')
    .action((_: unknown, command: Command) => test(start(command)))
}

async function show(context: Context, { service: name }: ShowOptions): Promise<void> {
  if (name === undefined)
    return printSettings(context, await context.client.call('getNotificationSettings', { params: await ownerIn(context) }))
  const { id: serviceId } = await resolveService(context, name)
  printOverrides(context, await context.client.call('getNotificationOverrides', { params: { serviceId } }))
}

async function set(context: Context, options: SetOptions): Promise<void> {
  const { service: name, level } = options
  const channels = { emailEnabled: options.mail, slackUrl: options.slackUrl, discordUrl: options.discordUrl }
  const hasChannels = Object.values(channels).some((given) => given !== undefined)
  if (level === undefined && !hasChannels)
    throw usageError('There is nothing to set.', 'Give --level, --mail, --slack-url or --discord-url.')
  if (name !== undefined) {
    if (hasChannels)
      throw usageError('Where people are told is set for the whole workspace.', 'Leave out --service, or give --level alone.')
    const { id: serviceId } = await resolveService(context, name)
    const body = present({ notificationsToSend: level })
    return printOverrides(context, await context.client.call('updateNotificationOverrides', { params: { serviceId }, body }))
  }
  if (level === 'default') throw usageError('The workspace has no default to go by.', `Give --level ${notificationLevels.join(', ')}.`)
  const body: NotificationSettingsPatch = present({
    notificationsToSend: level,
    emailEnabled: options.mail,
    slackUrl: await urlOf(context, options.slackUrl),
    discordUrl: await urlOf(context, options.discordUrl),
  })
  printSettings(context, await context.client.call('updateNotificationSettings', { params: await ownerIn(context), body }))
}

async function urlOf({ io }: Context, given: string | false | undefined): Promise<string | null | undefined> {
  if (given === false) return null
  return given === '-' ? (await io.stdin.text()).trim() : given
}

async function test(context: Context): Promise<void> {
  const results = await context.client.call('testNotifications', { params: await ownerIn(context) })
  if (context.isJson) context.printJson(results)
  else for (const result of results) context.print(resultLine(context, result))
  if (results.length === 0) context.note('Nobody is told anything: there is neither mail nor a URL.')
  if (results.some(({ delivered }) => !delivered))
    throw new CliError('unavailable', 'Not every message was taken.', { hint: 'cpctl notifications set changes where they go.' })
}

const resultLine = ({ paint }: Context, { channel, delivered, error = '' }: NotificationTest[number]): string =>
  delivered ? `${channel}: ${paint.green('taken')}` : `${channel}: ${paint.red('not taken')}. ${cleanText(error)}`

const ownerIn = async ({ client }: Context): Promise<{ ownerId: string }> => ({ ownerId: (await client.call('me')).workspace.id })

function printOverrides(context: Context, overrides: NotificationOverrides): void {
  if (context.isJson) context.printJson(overrides)
  else context.print(clean`Told of it: ${overrides.notificationsToSend}`)
}

function printSettings(context: Context, settings: NotificationSettings): void {
  if (context.isJson) context.printJson(settings)
  else context.io.stdout.write(fieldsOf(context, settings))
}

function fieldsOf(context: Context, settings: NotificationSettings): string {
  const mail = settings.isMailConfigured ? 'on' : 'on, but this server sends no mail (CP_SMTP_URL)'
  return formatFields(
    [
      ['Told', settings.notificationsToSend],
      ['Mail', settings.emailEnabled ? mail : 'off'],
      ['Slack', settings.slackUrl ?? 'off'],
      ['Discord', settings.discordUrl ?? 'off'],
    ],
    context.paint,
  )
}
