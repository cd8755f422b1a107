import type { AppContext } from '../context.ts'
import type { FeedEvent } from './feed.ts'
import { enqueue } from './queue-store.ts'
import type { StoredWebhook } from './store.ts'

/** Puts an event into the queue of a webhook, to be sent at once and as it is here. Belongs in a transaction. */
export function enqueueEvent(
  { db, now }: Pick<AppContext, 'db' | 'now'>,
  { id: webhookId }: StoredWebhook,
  { event, body }: { event: FeedEvent; body: string },
): void {
  const { id: eventId, seq, serviceId, type: eventType } = event
  enqueue(db, { webhookId, eventId, seq, serviceId, eventType, body, nextAttemptAt: now() })
}
