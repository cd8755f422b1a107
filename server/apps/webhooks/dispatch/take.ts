/**
 * Events wait in their own table, behind the cursor of each webhook, and not once for each webhook. A few at a time are taken up into the
 * queue, in one transaction with the step of the cursor: those are what a kill leaves to be sent, perhaps once more.
 */
import type { AppContext } from '../../context.ts'
import { isDelivered } from '../delivery-store.ts'
import { enqueueEvent } from '../enqueue.ts'
import { eventsAfter, type FeedEvent } from '../feed.ts'
import { isForAll, isWanted } from '../filter.ts'
import { bodyOf } from '../message.ts'
import { advanceReplay, countRetries, firstReplay, type Replay } from '../queue-store.ts'
import { enqueueAgain } from '../resend.ts'
import { changeWebhook, type StoredWebhook } from '../store.ts'

/** Events of one webhook that are taken up and not yet tried: enough that a few services have one each. */
export const WINDOW = 8

/** Events that one look goes through, which bounds its time. */
const SCANNED = 200

/** Events of one webhook that failed and wait. With more, those that follow wait in their own table until one of these is through. */
export const MAX_FAILING = 1000

type Taking = Pick<AppContext, 'db' | 'now'>

export interface Taken {
  taken: number
  isMore: boolean
}

const nothing: Taken = { taken: 0, isMore: false }

/** Takes up to so many of the events that a webhook is for, new ones before those that are to be sent again. */
export function takeUp(context: Taking, webhook: StoredWebhook, wanted: number): Taken {
  const { db } = context
  if (wanted <= 0 || countRetries(db, webhook.id, MAX_FAILING) >= MAX_FAILING) return nothing
  return db.transaction(() => {
    const own = takeNew(context, webhook, wanted)
    const replay = own.taken < wanted ? firstReplay(db, webhook.id) : undefined
    const again = replay === undefined ? nothing : takeReplayed(context, webhook, { replay, wanted: wanted - own.taken })
    return { taken: own.taken + again.taken, isMore: own.isMore || again.isMore }
  })()
}

function takeNew(context: Taking, webhook: StoredWebhook, wanted: number): Taken {
  const limit = isForAll(webhook) ? wanted : SCANNED
  const events = eventsAfter(context.db, webhook.workspaceId, { afterSeq: webhook.cursorSeq, limit })
  const { chosen, lastSeq } = choose(events, wanted, (event) => isWanted(webhook, event))
  for (const event of chosen) enqueueEvent(context, webhook, { event, body: bodyOf(event) })
  if (lastSeq !== undefined) changeWebhook(context.db, webhook.id, { cursorSeq: lastSeq })
  return { taken: chosen.length, isMore: events.length === limit || lastSeq !== events.at(-1)?.seq }
}

function takeReplayed(context: Taking, webhook: StoredWebhook, { replay, wanted }: { replay: Replay; wanted: number }): Taken {
  const { db } = context
  const range = { afterSeq: replay.cursorSeq, toSeq: replay.toSeq, limit: SCANNED }
  const events = eventsAfter(db, webhook.workspaceId, range)
  const isMissed = ({ id }: FeedEvent) => replay.isOnlyMissed === 0 || !isDelivered(db, webhook.id, id)
  const { chosen, lastSeq } = choose(events, wanted, (event) => isWanted(webhook, event) && isMissed(event))
  for (const event of chosen) enqueueAgain(context, webhook, event)
  const isThrough = events.length < SCANNED && lastSeq === events.at(-1)?.seq
  advanceReplay(db, replay, isThrough ? replay.toSeq : (lastSeq ?? replay.toSeq))
  return { taken: chosen.length, isMore: !isThrough || firstReplay(db, webhook.id) !== undefined }
}

/** The first of `events` that are wanted, and the last that was looked at for them. */
export function choose<T extends { seq: number }>(
  events: readonly T[],
  wanted: number,
  isChosen: (event: T) => boolean,
): { chosen: T[]; lastSeq: number | undefined } {
  const chosen: T[] = []
  let lastSeq: number | undefined
  for (const event of events) {
    if (chosen.length === wanted) break
    if (isChosen(event)) chosen.push(event)
    lastSeq = event.seq
  }
  return { chosen, lastSeq }
}
