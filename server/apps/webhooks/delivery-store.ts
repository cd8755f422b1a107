import type { Database } from 'bun:sqlite'
import { tableOf } from '../../platform/db/table.ts'

/** One attempt, as it went. Times are milliseconds since 1970. */
export interface StoredDelivery {
  id: string
  webhookId: string
  eventId: string
  eventType: string
  url: string
  body: string
  attempt: number
  sentAt: number
  durationMs: number
  statusCode: number | null
  responseBody: string | null
  error: string | null
}

export interface ListedDelivery extends StoredDelivery {
  /** Null where the event is not sent again, and for all but its last attempt. */
  nextAttemptAt: number | null
}

const deliveries = tableOf<StoredDelivery>('webhook_deliveries', {
  id: 'id',
  webhookId: 'webhook_id',
  eventId: 'event_id',
  eventType: 'event_type',
  url: 'url',
  body: 'body',
  attempt: 'attempt',
  sentAt: 'sent_at',
  durationMs: 'duration_ms',
  statusCode: 'status_code',
  responseBody: 'response_body',
  error: 'error',
})

/** Keeps how an attempt went. */
export const insertDelivery = (db: Database, delivery: StoredDelivery): void => void deliveries.insert(db, delivery)

export interface DeliveryPage {
  webhookId: string
  sentAfter: number
  sentBefore: number
  after: { sentAt: number; id: string } | undefined
  limit: number
}

/** Attempts of a webhook, newest first; neither `sentAfter` nor `sentBefore` is included. */
export const listDeliveries = (db: Database, { webhookId, sentAfter, sentBefore, after, limit }: DeliveryPage): ListedDelivery[] =>
  db
    .query<ListedDelivery, [Record<string, string | number>]>(
      `SELECT ${deliveries.columns}, q.next_attempt_at AS nextAttemptAt FROM webhook_deliveries
       LEFT JOIN webhook_queue q ON q.webhook_id = webhook_deliveries.webhook_id AND q.event_id = webhook_deliveries.event_id
         AND q.attempts = webhook_deliveries.attempt
       WHERE webhook_deliveries.webhook_id = $webhookId AND sent_at > $sentAfter AND sent_at < $sentBefore
         AND (sent_at, id) < ($afterAt, $afterId)
       ORDER BY sent_at DESC, id DESC LIMIT $limit`,
    )
    .all({
      webhookId,
      sentAfter,
      sentBefore,
      afterAt: after?.sentAt ?? Number.MAX_SAFE_INTEGER,
      afterId: after?.id ?? '',
      limit,
    })

/** What was sent for an event before: sent again, it is the same. */
export const sentBody = (db: Database, webhookId: string, eventId: string): string | undefined =>
  deliveries.get(db, 'WHERE webhook_id = $webhookId AND event_id = $eventId ORDER BY sent_at DESC LIMIT 1', { webhookId, eventId })?.body

/** Whether a webhook has had an event, or is about to be sent it once more. */
export const isDelivered = (db: Database, webhookId: string, eventId: string): boolean =>
  db
    .query(
      `SELECT 1 FROM webhook_deliveries WHERE webhook_id = $webhookId AND event_id = $eventId AND error IS NULL
       UNION ALL SELECT 1 FROM webhook_queue WHERE webhook_id = $webhookId AND event_id = $eventId LIMIT 1`,
    )
    .get({ webhookId, eventId }) !== null

/** Forgets up to `count` of the oldest attempts of a webhook from before `before`. Returns how many. */
export const forgetDeliveries = (db: Database, webhookId: string, { before, count }: { before: number; count: number }): number =>
  db
    .query(
      `DELETE FROM webhook_deliveries WHERE webhook_id = $webhookId AND (sent_at, id) IN
         (SELECT sent_at, id FROM webhook_deliveries WHERE webhook_id = $webhookId AND sent_at < $before ORDER BY sent_at LIMIT $count)`,
    )
    .run({ webhookId, before, count }).changes
