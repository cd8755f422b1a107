import { AppError } from '../../../shared/error.ts'
import type { WebhookResend } from '../../../shared/webhook.ts'
import { sentBody } from './delivery-store.ts'
import { enqueueEvent } from './enqueue.ts'
import { type FeedEvent, feedEventById, seqRangeOf } from './feed.ts'
import { bodyOf } from './message.ts'
import type { WebhookContext } from './operations.ts'
import { addReplay, countReplays } from './queue-store.ts'
import type { StoredWebhook } from './store.ts'

const MAX_REPLAYS = 10

/** Has one event sent again, or those of a range. @throws AppError `validation_failed`, `not_found`, or `conflict` for a webhook that is disabled. */
export function resend(context: WebhookContext, webhook: StoredWebhook, { eventId, ...range }: WebhookResend): void {
  if (eventId === undefined) resendRange(context, webhook, range)
  else if (Object.keys(range).length > 0) throw unclear()
  else resendOne(context, webhook, eventId)
  context.work.poke('webhooks', webhook.workspaceId)
}

function resendOne({ db, now }: WebhookContext, webhook: StoredWebhook, eventId: string): void {
  const event = feedEventById(db, webhook.workspaceId, eventId)
  if (event === undefined)
    throw new AppError('not_found', `There is no event ${eventId} in this workspace. GET /v1/events lists those there are.`)
  refuseDisabled(webhook)
  enqueueAgain({ db, now }, webhook, event)
}

function refuseDisabled({ id, name, isEnabled }: StoredWebhook): void {
  if (!isEnabled) throw new AppError('conflict', `The webhook ${name} is disabled. Enable it first: PATCH /v1/webhooks/${id}.`)
}

/** Puts an event into the queue with the body that was sent before, where one was. Belongs in a transaction. */
export function enqueueAgain(context: Pick<WebhookContext, 'db' | 'now'>, webhook: StoredWebhook, event: FeedEvent): void {
  enqueueEvent(context, webhook, { event, body: sentBody(context.db, webhook.id, event.id) ?? bodyOf(event) })
}

function resendRange({ db, now }: WebhookContext, webhook: StoredWebhook, { from, to, onlyMissed }: WebhookResend): void {
  const { id, workspaceId } = webhook
  if (from === undefined) throw unclear()
  const times = { from: Date.parse(from), to: to === undefined ? now() : Date.parse(to) }
  const range = seqRangeOf(db, workspaceId, times)
  if (range === undefined)
    throw new AppError('not_found', 'Nothing happened in this workspace between these times. GET /v1/events lists what did.')
  refuseDisabled(webhook)
  if (countReplays(db, id) >= MAX_REPLAYS)
    throw new AppError('conflict', `${MAX_REPLAYS} ranges are still to be sent to this webhook. Wait until one is through.`)
  addReplay(db, { webhookId: id, cursorSeq: range.afterSeq, toSeq: range.toSeq, isOnlyMissed: onlyMissed === true ? 1 : 0 })
}

const unclear = (): AppError =>
  new AppError('validation_failed', 'Say what to send again: eventId, or from with or without to.', {
    details: [{ path: '', message: 'needs eventId, or from' }],
  })
