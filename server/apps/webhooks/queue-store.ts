import type { Database } from 'bun:sqlite'
import { tableOf } from '../../platform/db/table.ts'
import type { WebhookPlace } from './store.ts'

export interface Queued {
  webhookId: string
  eventId: string
  seq: number
  serviceId: string | null
  eventType: string
  body: string
  attempts: number
  /** Milliseconds since 1970. */
  nextAttemptAt: number
}

const queue = tableOf<Queued>('webhook_queue', {
  webhookId: 'webhook_id',
  eventId: 'event_id',
  seq: 'seq',
  serviceId: 'service_id',
  eventType: 'event_type',
  body: 'body',
  attempts: 'attempts',
  nextAttemptAt: 'next_attempt_at',
})

/** Puts an event into the queue as one that was never tried. One that is there begins anew, with the body it has. */
export const enqueue = (db: Database, item: Omit<Queued, 'attempts'>): void =>
  void queue.insert(
    db,
    { ...item, attempts: 0 },
    'ON CONFLICT (webhook_id, event_id) DO UPDATE SET attempts = 0, next_attempt_at = excluded.next_attempt_at',
  )

/** Events that were taken up and not yet tried, oldest first. */
export const untriedOf = (db: Database, webhookId: string, limit: number): Queued[] =>
  queue.all(db, 'WHERE webhook_id = $webhookId AND attempts = 0 ORDER BY seq LIMIT $limit', { webhookId, limit })

/** Events whose next attempt is due, those first that have waited longest. */
export const dueRetriesOf = (db: Database, webhookId: string, { now, limit }: { now: number; limit: number }): Queued[] =>
  queue.all(db, 'WHERE webhook_id = $webhookId AND attempts > 0 AND next_attempt_at <= $now ORDER BY next_attempt_at LIMIT $limit', {
    webhookId,
    now,
    limit,
  })

/** How many events wait to be tried again, counted up to `most`. */
export const countRetries = (db: Database, webhookId: string, most: number): number =>
  db
    .query<{ count: number }, [string, number]>(
      'SELECT count(*) AS count FROM (SELECT 1 FROM webhook_queue WHERE webhook_id = ? AND attempts > 0 LIMIT ?)',
    )
    .get(webhookId, most)?.count ?? 0

/** Webhooks that have a retry that is due. */
export const webhooksDue = (db: Database, now: number): WebhookPlace[] =>
  db
    .query<WebhookPlace, [number]>(
      `SELECT id, workspace_id AS workspaceId FROM webhooks
       WHERE id IN (SELECT webhook_id FROM webhook_queue WHERE attempts > 0 AND next_attempt_at <= ?)`,
    )
    .all(now)

/** When the next retry after `now` falls due; undefined where none will. */
export const nextRetryAt = (db: Database, now: number): number | undefined =>
  db
    .query<{ at: number | null }, [number]>(
      'SELECT min(next_attempt_at) AS at FROM webhook_queue WHERE attempts > 0 AND next_attempt_at > ?',
    )
    .get(now)?.at ?? undefined

/** Takes an event out of the queue. Returns whether it was still there. */
export const dequeue = (db: Database, { webhookId, eventId }: Pick<Queued, 'webhookId' | 'eventId'>): boolean =>
  queue.remove(db, { webhookId, eventId }) > 0

/** Has retries that are further away than `latest` fall due at `now`: only a clock that was set back has put them there. */
export const hastenRetries = (db: Database, { now, latest }: { now: number; latest: number }): void =>
  void db.query('UPDATE webhook_queue SET next_attempt_at = $now WHERE attempts > 0 AND next_attempt_at > $latest').run({ now, latest })

/** Writes down when an event is tried again. */
export const postpone = (
  db: Database,
  { webhookId, eventId }: Pick<Queued, 'webhookId' | 'eventId'>,
  change: Pick<Queued, 'attempts' | 'nextAttemptAt'>,
): boolean => queue.update(db, { webhookId, eventId }, change) > 0

/** Takes all events of a webhook out of the queue, and what was asked for again: nothing is sent to it until it is enabled. */
export function emptyQueue(db: Database, webhookId: string): void {
  queue.remove(db, { webhookId })
  db.query('DELETE FROM webhook_replays WHERE webhook_id = ?').run(webhookId)
}

/** The `seq` range that was asked for again, as far as it is still to be sent. */
export interface Replay {
  id: number
  webhookId: string
  cursorSeq: number
  toSeq: number
  isOnlyMissed: 0 | 1
}

const replays = tableOf<Replay>('webhook_replays', {
  id: 'id',
  webhookId: 'webhook_id',
  cursorSeq: 'cursor_seq',
  toSeq: 'to_seq',
  isOnlyMissed: 'is_only_missed',
})

/** Adds a range that is to be sent again. */
export const addReplay = (db: Database, replay: Omit<Replay, 'id'>): void => void replays.insert(db, replay)
/** The range that has its turn; undefined where none is left. */
export const firstReplay = (db: Database, webhookId: string): Replay | undefined =>
  replays.get(db, 'WHERE webhook_id = $webhookId ORDER BY id LIMIT 1', { webhookId })
/** How many ranges are still to be sent. */
export const countReplays = (db: Database, webhookId: string): number =>
  db.query<{ count: number }, [string]>('SELECT count(*) AS count FROM webhook_replays WHERE webhook_id = ?').get(webhookId)?.count ?? 0

/** Writes down how far a replay has come; one that is at its end goes. */
export function advanceReplay(db: Database, { id, toSeq }: Replay, cursorSeq: number): void {
  if (cursorSeq >= toSeq) replays.remove(db, { id })
  else replays.update(db, { id }, { cursorSeq })
}
