import type { AppContext } from '../../context.ts'
import { dueRetriesOf, type Queued, untriedOf } from '../queue-store.ts'
import type { StoredWebhook } from '../store.ts'
import { takeUp, WINDOW } from './take.ts'

/** Attempts of one webhook that are under way, by the ids of their events. */
export type UnderWay = ReadonlyMap<string, Pick<Queued, 'serviceId' | 'attempts'>>

export interface Room {
  first: number
  retry: number
}

export interface Chosen {
  items: Queued[]
  /** There is more to look at, though nothing more may be to be sent. */
  isMore: boolean
}

/** What a webhook sends now: first attempts in order, one at a time for each service, and retries that are due. */
export function chooseNext(
  context: Pick<AppContext, 'db' | 'now'>,
  webhook: StoredWebhook,
  at: { underWay: UnderWay; room: Room },
): Chosen {
  const { db, now } = context
  const { underWay, room } = at
  const untried = untriedOf(db, webhook.id, WINDOW)
  const isMore = room.first > 0 && takeUp(context, webhook, WINDOW - untried.length)
  const firsts = room.first === 0 ? [] : inOrder(untriedOf(db, webhook.id, WINDOW), underWay).slice(0, room.first)
  const due = room.retry === 0 ? [] : dueRetriesOf(db, webhook.id, { now: now(), limit: room.retry + underWay.size })
  const retries = due.filter(({ eventId }) => !underWay.has(eventId)).slice(0, room.retry)
  return { items: [...firsts, ...retries], isMore: isMore && firsts.length < room.first }
}

/** The first of each service of which none is under way for the first time. */
export function inOrder(untried: readonly Queued[], underWay: UnderWay): Queued[] {
  const busy = new Set([...underWay.values()].filter(({ attempts }) => attempts === 0).map(({ serviceId }) => serviceId))
  return untried.filter(({ eventId, serviceId }) => {
    if (busy.has(serviceId) || underWay.has(eventId)) return false
    busy.add(serviceId)
    return true
  })
}
