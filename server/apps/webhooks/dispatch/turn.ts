import type { AppContext } from '../../context.ts'
import { dueRetriesOf, type Queued, untriedOf } from '../queue-store.ts'
import type { StoredWebhook } from '../store.ts'
import { takeUp, WINDOW } from './take.ts'

export type UnderWay = ReadonlyMap<string, Pick<Queued, 'serviceId' | 'attempts'>>

export interface Room {
  first: number
  retry: number
}

export interface Chosen {
  items: Queued[]
  isMore: boolean
}

type Choosing = Pick<AppContext, 'db' | 'now'>

/** What a webhook sends now: first attempts in order, one at a time for each service, and retries that are due. */
export function chooseNext(context: Choosing, webhook: StoredWebhook, { underWay, room }: { underWay: UnderWay; room: Room }): Chosen {
  const { untried, isMore } = room.first === 0 ? { untried: [], isMore: false } : replenished(context, webhook)
  const firsts = inOrder(untried, underWay).slice(0, room.first)
  return { items: [...firsts, ...retriesOf(context, webhook, { underWay, room })], isMore: isMore && firsts.length < room.first }
}

/** Few transactions take up many events: only where half of the window is empty. */
function replenished(context: Choosing, webhook: StoredWebhook): { untried: Queued[]; isMore: boolean } {
  const untried = untriedOf(context.db, webhook.id, WINDOW)
  if (untried.length > WINDOW / 2) return { untried, isMore: false }
  const { taken, isMore } = takeUp(context, webhook, WINDOW - untried.length)
  return { untried: taken === 0 ? untried : untriedOf(context.db, webhook.id, WINDOW), isMore }
}

function retriesOf({ db, now }: Choosing, { id }: StoredWebhook, { underWay, room }: { underWay: UnderWay; room: Room }): Queued[] {
  if (room.retry === 0) return []
  const due = dueRetriesOf(db, id, { now: now(), limit: room.retry + underWay.size })
  return due.filter(({ eventId }) => !underWay.has(eventId)).slice(0, room.retry)
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
