import { AppError } from '../../../shared/error.ts'
import type { NotificationChannel } from '../../../shared/notification.ts'
import { findUser } from '../../identity/users/store.ts'
import { OutgoingProblem } from '../../platform/outgoing/problem.ts'
import { sendOutgoing } from '../../platform/outgoing/send.ts'
import type { AppContext } from '../context.ts'
import { policyOf } from '../webhooks/url.ts'
import type { Composed } from './compose.ts'
import { channelUrl } from './settings.ts'
import { settingsOf } from './settings-store.ts'
import { unsubscribeToken } from './unsubscribe.ts'

export type SendContext = Pick<AppContext, 'db' | 'sealer' | 'config' | 'stopping' | 'lookup' | 'mailer' | 'publicUrl'>

export interface Outgoing extends Composed {
  workspaceId: string
  channel: NotificationChannel
  userId: string | null
}

const TIMEOUT_MS = 10_000
const MOST_ANSWER_BYTES = 4096
/** Discord takes no more characters than this (its API reference, "Execute Webhook"), and Slack cuts longer texts into several. */
const MOST_CHARS: Record<'slack' | 'discord', number> = { slack: 3500, discord: 2000 }

/** Sends a message once. Returns why it was not taken, for people; undefined when it was. @throws the reason of `stopping`. */
export async function sendMessage(context: SendContext, message: Outgoing): Promise<string | undefined> {
  return message.channel === 'email' ? await sendMail(context, message) : await sendToChat(context, message, message.channel)
}

async function sendMail(
  { db, sealer, mailer, publicUrl }: SendContext,
  { userId, workspaceId, subject, text }: Outgoing,
): Promise<string | undefined> {
  const user = userId === null ? undefined : findUser(db, userId)
  if (user === undefined) return 'The user is gone.'
  const token = unsubscribeToken(sealer, { userId: user.id, workspaceId })
  const footer = `No more mail of this workspace: ${publicUrl}/unsubscribe?token=${token}`
  const headers = {
    'List-Unsubscribe': `<${publicUrl}/v1/notification-settings/unsubscribe/${token}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  }
  try {
    await mailer.send({ to: user.email, subject, text: `${text}\n\n-- \n${footer}\n`, headers })
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
}

/** Both take JSON by POST. What looks like a mention of people or groups is none. */
const bodies: Record<'slack' | 'discord', (text: string) => unknown> = {
  slack: (text) => ({ text: text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;') }),
  discord: (text) => ({ content: text, allowed_mentions: { parse: [] } }),
}

async function sendToChat(
  context: SendContext,
  { workspaceId, subject, text }: Outgoing,
  channel: 'slack' | 'discord',
): Promise<string | undefined> {
  const url = channelUrl(context, settingsOf(context.db, workspaceId), channel)
  if (url === undefined) return 'There is no URL for it any more.'
  const whole = text.includes(subject) ? text : `${subject}\n\n${text}`
  const body = JSON.stringify(bodies[channel](clipped(whole, MOST_CHARS[channel])))
  try {
    const { ok, status } = await sendOutgoing(
      { url: new URL(url), method: 'POST', headers: new Headers({ 'content-type': 'application/json' }), body },
      {
        ...policyOf(context.config),
        ...{
          lookup: context.lookup,
          signal: context.stopping,
          timeoutMs: TIMEOUT_MS,
          maxAnswerBytes: MOST_ANSWER_BYTES,
          longAnswer: 'cut',
        },
      },
    )
    return ok ? undefined : `It answered ${status}; only 2xx takes a message.`
  } catch (error) {
    if (error instanceof OutgoingProblem) return error.message
    throw error
  }
}

const clipped = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most - 1)}…`)
