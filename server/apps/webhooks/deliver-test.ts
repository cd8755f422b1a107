import { testEventType } from '../../../shared/webhook.ts'
import { newId } from '../../platform/id.ts'
import type { ListedDelivery } from './delivery-store.ts'
import { bodyOf } from './message.ts'
import { type SendContext, sendOnce } from './send.ts'
import type { StoredWebhook } from './store.ts'

export async function deliverTest(context: SendContext, webhook: StoredWebhook): Promise<ListedDelivery> {
  const now = context.now()
  const eventId = newId('event', now)
  const timestamp = new Date(now).toISOString()
  const body = bodyOf({ id: eventId, type: testEventType, timestamp, serviceId: null, serviceName: null, details: '{}' })
  const outcome = await sendOnce(context, webhook, { eventId, body })
  return {
    id: newId('webhookDelivery', outcome.sentAt),
    webhookId: webhook.id,
    eventId,
    eventType: testEventType,
    url: webhook.url,
    body,
    attempt: 1,
    sentAt: outcome.sentAt,
    durationMs: outcome.durationMs,
    statusCode: outcome.statusCode ?? null,
    responseBody: outcome.responseBody ?? null,
    error: outcome.error ?? null,
    nextAttemptAt: null,
  }
}
