import type { WebhookPlace } from '../store.ts'
import type { Group, Slots } from './slots.ts'

/** Webhooks that may have something to send. Groups have their turns one after the other, and so have webhooks in each. */
export interface Waiting {
  add(place: WebhookPlace): void
  /** Takes out the next that has room to send. One that has all its own places taken is dropped: it comes again when an attempt ends. */
  next(): WebhookPlace | undefined
}

export function createWaiting(slots: Slots): Waiting {
  const groups = new Map<string, { group: Group; places: Map<string, WebhookPlace> }>()

  function add(place: WebhookPlace): void {
    const group = slots.groupOf(place)
    const held = groups.get(group.key) ?? { group, places: new Map<string, WebhookPlace>() }
    groups.set(group.key, held)
    if (!held.places.has(place.id)) held.places.set(place.id, place)
  }

  function takeFrom(places: Map<string, WebhookPlace>): WebhookPlace | undefined {
    for (const [id, place] of places) {
      places.delete(id)
      if (slots.room(place, 'first') + slots.room(place, 'retry') > 0) return place
    }
    return undefined
  }

  return {
    add,
    next() {
      for (const [key, held] of groups) {
        if (slots.left(held.group) <= 0) continue
        groups.delete(key)
        const place = takeFrom(held.places)
        if (held.places.size > 0) groups.set(key, held)
        if (place !== undefined) return place
      }
      return undefined
    },
  }
}
