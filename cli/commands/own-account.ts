import type { Command } from 'commander'
import { renderUnicodeCompact } from 'uqr'
import type { TwoFactorState } from '../../shared/account.ts'
import { asOneself, type OwnAccountOptions, withOwnAccountOptions } from '../accounts/own-account.ts'
import type { Context, Start } from '../session/context.ts'
import { askCode } from '../session/one-time-code.ts'
import { formatFields } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'
import { addIdentityCommands } from './identities.ts'

type Action = (context: Context, options: OwnAccountOptions) => Promise<void>

export function addOwnAccountCommands(program: Command, start: Start): void {
  const account = program.command('account').description('Your own account')
  const add = (parent: Command, [name, description]: [string, string], action: Action) =>
    withOwnAccountOptions(parent.command(name).description(description)).action((options: OwnAccountOptions, command: Command) =>
      action(start(command), options),
    )
  add(account, ['show', 'Show your account and how it is protected'], show)
  add(account, ['password', 'Change your password; every other session ends'], changePassword)
  addIdentityCommands(account, start)
  const notifications = account.command('notifications').description('Mail that you get of what fails in the workspace in use')
  add(notifications, ['show', 'Show whether you get mail'], notificationsAre())
  add(notifications, ['on', 'Get mail'], notificationsAre(true))
  add(notifications, ['off', 'Get no more mail'], notificationsAre(false))
  const twoFactor = account.command('two-factor').description('A second factor for signing in')
  add(twoFactor, ['enable', 'Set up an authenticator app'], enable)
  add(twoFactor, ['disable', 'Sign in with the password alone again'], disable)
  add(twoFactor, ['recovery-codes', 'Get new recovery codes; the old ones end'], renewCodes)
}

const show: Action = (context, options) =>
  asOneself(context, options, async ({ client }) => {
    const user = await client.call('getUser')
    const twoFactor = await client.call('getTwoFactor')
    if (context.isJson) return context.printJson({ user, twoFactor })
    context.io.stdout.write(
      formatFields(
        [
          ['Name', user.name],
          ['E-mail', user.email],
          ['Id', user.id],
          ['Two-factor', inWords(twoFactor)],
          ['Required by', twoFactor.requiredBy.map(({ name }) => name).join(', ')],
        ],
        context.paint,
      ),
    )
  })

const inWords = ({ enabled, enabledAt, recoveryCodesLeft }: TwoFactorState): string =>
  enabled ? `on since ${enabledAt}, ${recoveryCodesLeft} recovery codes left` : 'off (cpctl account two-factor enable)'

const notificationsAre =
  (wanted?: boolean): Action =>
  async (context, options) => {
    const { id: ownerId, name } = (await context.client.call('me')).workspace
    const { emailEnabled, ...rest } = await asOneself(context, options, ({ client }) =>
      wanted === undefined
        ? client.call('getOwnNotifications', { query: { ownerId } })
        : client.call('updateOwnNotifications', { body: { ownerId, emailEnabled: wanted } }),
    )
    if (context.isJson) return context.printJson({ ...rest, emailEnabled })
    context.print(clean`You get ${emailEnabled ? 'mail' : 'no mail'} of what fails in ${name}.`)
  }

const changePassword: Action = (context, options) =>
  asOneself(context, options, async ({ client, password, newPassword, adopt }) => {
    const body = { currentPassword: await password(), newPassword: await newPassword() }
    const response = await client.respond('changePassword', { body })
    await adopt(response.headers)
    if (context.isJson) return context.printJson({})
    context.print('The password is changed. Every other session has ended; API keys go on.')
  })

const enable: Action = (context, options) =>
  asOneself(context, options, async ({ client, password }) => {
    const { secret, otpauthUrl } = await client.call('beginTwoFactor', { body: { password: await password() } })
    if (context.io.stderr.isTty) context.io.stderr.write(`${renderUnicodeCompact(otpauthUrl, { border: 2 })}\n`)
    context.note(clean`Scan the code with your authenticator app, or type this secret into it: ${secret}`)
    const code = options.otp ?? (await askCode(context, 'Code that the app shows now:'))
    const { recoveryCodes } = await client.call('confirmTwoFactor', { body: { code } })
    context.note('Two-factor sign-in is on.')
    printCodes(context, recoveryCodes)
  })

const disable: Action = (context, options) =>
  asOneself(context, options, async ({ client, password, code }) => {
    await client.call('removeTwoFactor', { body: { password: await password(), otp: await code() } })
    if (context.isJson) return context.printJson({})
    context.print('Two-factor sign-in is off: the password is enough.')
    const { requiredBy } = await client.call('getTwoFactor')
    for (const { name } of requiredBy)
      context.note(clean`${name} lets in only members with a second factor, so not you until you set one up again.`)
  })

const renewCodes: Action = (context, options) =>
  asOneself(context, options, async ({ client, password, code }) => {
    const { recoveryCodes } = await client.call('renewRecoveryCodes', { body: { password: await password(), otp: await code() } })
    printCodes(context, recoveryCodes)
  })

/** The codes alone go to standard output, so that they can be piped to where they are kept. */
function printCodes(context: Context, recoveryCodes: readonly string[]): void {
  if (context.isJson) {
    context.printJson({ recoveryCodes })
  } else {
    context.note('Keep these recovery codes: each lets you in once without the app, and they are not shown again.')
    for (const code of recoveryCodes) context.print(clean`${code}`)
  }
}
