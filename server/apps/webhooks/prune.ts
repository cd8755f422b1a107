import { setImmediate } from 'node:timers/promises'
import { keptDeliveryDays } from '../../../shared/webhook.ts'
import type { AppContext } from '../context.ts'
import { beginReading, markRead } from '../events/readers.ts'
import { forgetDeliveries } from './delivery-store.ts'
import { latestSeq } from './feed.ts'
import { emptyQueue } from './queue-store.ts'
import { allWebhooks, deletedWebhooks, deleteWebhooks, removeWebhook } from './store.ts'

const DAY_MS = 24 * 60 * 60 * 1000

const STEP_ROWS = 500

const READER = 'webhooks'

type Pruned = Pick<AppContext, 'db' | 'now'>

/** Forgets attempts that are older than they are kept, and what deleted webhooks have left, with other work between the steps. */
export async function forgetOldAttempts({ db, now }: Pruned): Promise<void> {
  for (const { id, deletedAt } of allWebhooks(db)) {
    const step =
      deletedAt === null
        ? () => forgetDeliveries(db, id, { before: now() - keptDeliveryDays * DAY_MS, count: STEP_ROWS }) === STEP_ROWS
        : () => !removeStep(db, id)
    while (step()) await setImmediate()
    await setImmediate()
  }
}

/** Deletes the webhooks of a workspace, and removes a part of what they have left. Returns whether anything is still there. */
export function removeWebhooksOf({ db, now }: Pruned, workspaceId: string): boolean {
  if (deleteWebhooks(db, { workspaceId }, now()) === 0) return false
  return !deletedWebhooks(db, workspaceId).every((id) => removeStep(db, id))
}

function removeStep(db: AppContext['db'], id: string): boolean {
  return db.transaction(() => {
    emptyQueue(db, id)
    if (forgetDeliveries(db, id, { before: Number.MAX_SAFE_INTEGER, count: STEP_ROWS }) === STEP_ROWS) return false
    removeWebhook(db, id)
    return true
  })()
}

/** What webhooks have still to look at is kept by their cursors: this reader holds up nothing by itself. */
export function noteEventsRead(db: AppContext['db']): void {
  beginReading(db, READER)
  markRead(db, READER, latestSeq(db))
}
