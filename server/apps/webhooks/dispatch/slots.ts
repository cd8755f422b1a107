/**
 * How much is under way at a time. A webhook whose latest answer was prompt and 2xx is proven; others have places of their own, so that
 * receivers which hang keep nobody waiting but each other. First attempts and retries of one webhook have separate places.
 */
import type { WebhookPlace } from '../store.ts'

export type Turn = 'first' | 'retry'
export type Standing = 'proven' | 'unproven'

export interface SlotLimits {
  perWebhook: Record<Standing, Record<Turn, number>>
  /** For the proven of a workspace, and as much again for its others. */
  perWorkspace: number
  all: number
}

export const defaultSlotLimits: SlotLimits = {
  perWebhook: { proven: { first: 4, retry: 1 }, unproven: { first: 1, retry: 1 } },
  perWorkspace: 32,
  all: 128,
}

/** An answer that takes longer, in milliseconds, proves nothing: others would wait for the next one. */
export const PROMPT_MS = 1000

/** Webhooks that share places: the proven or the others of a workspace. */
export interface Group {
  key: string
  standing: Standing
}

export interface Slots {
  groupOf(webhook: WebhookPlace): Group
  left(group: Group): number
  room(webhook: WebhookPlace, turn: Turn): number
  /** Takes a place; returns what gives it back, told whether the answer was prompt and 2xx. */
  take(webhook: WebhookPlace, turn: Turn): (isPrompt: boolean) => void
}

export function createSlots(limits: SlotLimits = defaultSlotLimits): Slots {
  const proven = new Set<string>()
  const taken = new Map<string, number>()
  const count = (key: string): number => taken.get(key) ?? 0
  const add = (key: string, by: 1 | -1) => {
    const sum = count(key) + by
    if (sum === 0) taken.delete(key)
    else taken.set(key, sum)
  }
  const groupOf = ({ id, workspaceId }: WebhookPlace): Group => {
    const standing = proven.has(id) ? 'proven' : 'unproven'
    return { key: `${standing} ${workspaceId}`, standing }
  }
  const left = ({ key, standing }: Group): number => Math.min(limits.perWorkspace - count(key), limits.all - count(standing))
  return {
    groupOf,
    left,
    room(webhook, turn) {
      const group = groupOf(webhook)
      const own = limits.perWebhook[group.standing][turn] - count(`${turn} ${webhook.id}`)
      return Math.max(0, Math.min(own, left(group)))
    },
    take(webhook, turn) {
      const { key, standing } = groupOf(webhook)
      const keys = [`${turn} ${webhook.id}`, key, standing]
      for (const one of keys) add(one, 1)
      return (isPrompt) => {
        for (const one of keys) add(one, -1)
        if (isPrompt) proven.add(webhook.id)
        else proven.delete(webhook.id)
      }
    },
  }
}
