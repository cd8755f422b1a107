/**
 * Sends events to webhooks. Of what waits there are only ids in memory: cursors and queue say what is next when a webhook has its turn.
 */
import { describeError } from '../../../platform/server-log.ts'
import { pause } from '../../../platform/work/clock.ts'
import type { AppContext } from '../../context.ts'
import { noteEventsRead } from '../prune.ts'
import { hastenRetries, type Queued, webhooksDue } from '../queue-store.ts'
import { LONGEST_PAUSE_MS } from '../retry-plan.ts'
import { type SendContext, sendOnce } from '../send.ts'
import { enabledWebhooks, type StoredWebhook, sendingWebhook, type WebhookPlace } from '../store.ts'
import { createAlarm } from './alarm.ts'
import { type Concluding, conclude } from './conclude.ts'
import { createGarbageCount } from './garbage.ts'
import { createPump } from './pump.ts'
import { createSlots, PROMPT_MS } from './slots.ts'
import { chooseNext } from './turn.ts'
import { createWaiting } from './waiting.ts'

type DispatchContext = SendContext & Concluding & Pick<AppContext, 'after' | 'log'>

export interface WebhookWork {
  poke(workspaceId: string): void
  pokeAll(): void
  settled(): Promise<void>
}

/** After what cannot be written down, such as on a full disk. */
const PAUSE_MS = 5000

export function createWebhookWork(context: DispatchContext): WebhookWork {
  const { db, log, now, after, stopping } = context
  const slots = createSlots()
  const waiting = createWaiting(slots)
  const poked = new Set<string>()
  const underWay = new Map<string, Map<string, Queued>>()
  const attempts = new Set<Promise<void>>()
  const countGarbage = createGarbageCount()
  const alarm = createAlarm(context, () => wake(webhooksDue(db, now())))
  const pump = createPump<WebhookPlace>({ next: nextPlace, act: takeTurn, onError: rest, signal: stopping })

  function wake(places: readonly WebhookPlace[]): void {
    for (const place of places) waiting.add(place)
    pump.start()
  }

  function rest(error: unknown): void {
    log.error('webhooks not sent', describeError(error))
    alarm.setFor(now() + PAUSE_MS)
  }

  function nextPlace(): WebhookPlace | undefined {
    for (const workspaceId of poked) for (const place of enabledWebhooks(db, workspaceId)) waiting.add(place)
    poked.clear()
    return waiting.next()
  }

  function takeTurn(place: WebhookPlace): void {
    const webhook = sendingWebhook(db, place.id)
    if (webhook === undefined) return
    const room = { first: slots.room(place, 'first'), retry: slots.room(place, 'retry') }
    const { items, isMore } = chooseNext(context, webhook, { underWay: underWay.get(place.id) ?? new Map(), room })
    for (const item of items) begin(webhook, item)
    if (isMore) waiting.add(place)
  }

  function begin(webhook: StoredWebhook, item: Queued): void {
    const own = underWay.get(webhook.id) ?? new Map<string, Queued>()
    underWay.set(webhook.id, own.set(item.eventId, item))
    const release = slots.take(webhook, item.attempts === 0 ? 'first' : 'retry')
    const attempt = carryOut(webhook, item).then((isPrompt) => {
      own.delete(item.eventId)
      if (own.size === 0) underWay.delete(webhook.id)
      release(isPrompt)
      attempts.delete(attempt)
      wake([webhook])
    })
    attempts.add(attempt)
  }

  async function carryOut(webhook: StoredWebhook, item: Queued): Promise<boolean> {
    try {
      const outcome = await sendOnce(context, webhook, item)
      await pump.inTurn(() => conclude(context, webhook, { item, outcome }))
      countGarbage()
      if (outcome.error !== undefined) alarm.setForNextRetry()
      return outcome.error === undefined && outcome.durationMs <= PROMPT_MS
    } catch (error) {
      if (stopping.aborted) return false
      log.error('webhook not sent', { webhookId: webhook.id, eventId: item.eventId, ...describeError(error) })
      await pause({ after }, PAUSE_MS, stopping).catch(() => {})
      return false
    }
  }

  return {
    poke(workspaceId) {
      poked.add(workspaceId)
      wake([])
    },
    pokeAll() {
      noteEventsRead(db)
      hastenRetries(db, { now: now(), latest: now() + LONGEST_PAUSE_MS + PAUSE_MS })
      wake(enabledWebhooks(db))
      alarm.setForNextRetry()
    },
    settled: async () => void (await Promise.all([pump.settled(), ...attempts])),
  }
}
