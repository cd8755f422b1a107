import { newId } from '../../../platform/id.ts'
import type { AppContext } from '../../context.ts'
import { recordEvent } from '../../events/store.ts'
import { insertDelivery } from '../delivery-store.ts'
import { dequeue, emptyQueue, postpone, type Queued } from '../queue-store.ts'
import { type AfterFailure, afterFailure } from '../retry-plan.ts'
import type { Outcome } from '../send.ts'
import { changeWebhook, findWebhook, type StoredWebhook } from '../store.ts'

export type Concluding = Pick<AppContext, 'db' | 'now'>

/** Writes down how an attempt went and what follows, in one transaction. A webhook that was deleted meanwhile is left alone. */
export function conclude({ db, now }: Concluding, webhook: StoredWebhook, { item, outcome }: { item: Queued; outcome: Outcome }): void {
  const attempt = item.attempts + 1
  const { sentAt, durationMs, statusCode = null, responseBody = null, error = null } = outcome
  db.transaction(() => {
    if (findWebhook(db, webhook.workspaceId, webhook.id) === undefined) return
    const { webhookId, eventId, eventType, body } = item
    const sent = { sentAt, durationMs, statusCode, responseBody, error }
    insertDelivery(db, { id: newId('webhookDelivery', sentAt), webhookId, eventId, eventType, url: webhook.url, body, attempt, ...sent })
    if (error === null) dequeue(db, item)
    else fail({ db, now }, { webhook, item }, planOf(outcome, attempt, now()))
  })()
}

const planOf = ({ statusCode, retryAfterMs }: Outcome, attempt: number, at: number): AfterFailure =>
  afterFailure({ attempt, at, statusCode, retryAfterMs, random: Math.random() })

function fail({ db, now }: Concluding, { webhook, item }: { webhook: StoredWebhook; item: Queued }, plan: AfterFailure): void {
  if (plan.next === 'retry') postpone(db, item, { attempts: item.attempts + 1, nextAttemptAt: plan.at })
  // Where it is no longer in the queue, somebody disabled the webhook meanwhile, and may have enabled it anew.
  else if (dequeue(db, item)) disable({ db, now }, webhook, plan.reason)
}

/** What waits is dropped: it can be sent again once somebody has enabled the webhook. */
function disable({ db, now }: Concluding, { id, name, workspaceId }: StoredWebhook, reason: string): void {
  const at = now()
  changeWebhook(db, id, { isEnabled: false, disabledReason: reason, updatedAt: at })
  emptyQueue(db, id)
  recordEvent(db, { owner: { workspaceId }, type: 'webhook_disabled', details: { webhookId: id, name, reason }, now: at })
}
