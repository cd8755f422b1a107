import type { Webhook, WebhookEvent, WebhookWithSecret } from '../../../shared/webhook.ts'
import type { ListedDelivery } from './delivery-store.ts'
import type { WithSecret } from './operations.ts'
import { fixedHeaders } from './send.ts'
import type { StoredWebhook } from './store.ts'

const iso = (time: number): string => new Date(time).toISOString()

export const presentWebhook = (webhook: StoredWebhook, now: number): Webhook => {
  const { id, name, url, isEnabled, disabledReason, previousSecretUntil } = webhook
  return {
    id,
    name,
    url,
    enabled: isEnabled,
    eventFilter: [...webhook.eventFilter],
    serviceIds: [...webhook.serviceIds],
    environmentIds: [...webhook.environmentIds],
    projectIds: [...webhook.projectIds],
    ...(disabledReason === null ? {} : { disabledReason }),
    ...(previousSecretUntil === null || previousSecretUntil <= now ? {} : { previousSecretExpiresAt: iso(previousSecretUntil) }),
    createdAt: iso(webhook.createdAt),
    updatedAt: iso(webhook.updatedAt),
  }
}

export const presentSecret = ({ webhook, secret }: WithSecret, now: number): WebhookWithSecret => ({
  ...presentWebhook(webhook, now),
  secret,
})

export const presentDelivery = (delivery: ListedDelivery): WebhookEvent => {
  const { id, eventId, eventType, attempt, sentAt, durationMs, url, body, statusCode, responseBody, error, nextAttemptAt } = delivery
  return {
    id,
    eventId,
    eventType,
    attempt,
    sentAt: iso(sentAt),
    durationMs,
    request: { url, headers: fixedHeaders(eventId, sentAt), body },
    ...(statusCode === null ? {} : { statusCode }),
    ...(responseBody === null ? {} : { responseBody }),
    ...(error === null ? {} : { error }),
    ...(nextAttemptAt === null ? {} : { nextAttemptAt: iso(nextAttemptAt) }),
  }
}
