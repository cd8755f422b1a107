import { networkOf } from '../../platform/network/network-of.ts'
import type { IngressLimits } from '../limits/limits.ts'
import type { ProxyTarget } from '../tables/proxy-target.ts'

export type LoginLimits = Pick<IngressLimits, 'maxLogins' | 'maxLoginsPerAddress'>

interface Guest {
  busy: number
  readonly waiting: Set<() => void>
}

interface House {
  busy: number
  /** By address; the one that had its turn last stands last. */
  readonly guests: Map<string, Guest>
}

/**
 * Who has shown no password yet has a place of the database all the same, so strangers could take all of them from those who have one. Only a
 * few log in at a time, of one address still fewer, and addresses take turns; all others wait here, where they cost next to nothing.
 */
export class Logins {
  readonly #limits: LoginLimits
  readonly #houses = new Map<string, House>()

  constructor(limits: LoginLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#houses.size
  }

  /** Calls `start` at once or when its turn comes. Returns what is to be called when the login is over or given up, once or more. */
  begin({ instanceId }: ProxyTarget, address: string, start: () => void): () => void {
    const house = this.#houses.get(instanceId) ?? { busy: 0, guests: new Map<string, Guest>() }
    this.#houses.set(instanceId, house)
    const key = networkOf(address)
    const guest = house.guests.get(key) ?? { busy: 0, waiting: new Set() }
    house.guests.set(key, guest)
    let state: 'waiting' | 'busy' | 'over' = 'waiting'
    const take = () => {
      state = 'busy'
      start()
    }
    guest.waiting.add(take)
    this.#serve(house)
    return () => {
      if (state === 'over') return
      if (state === 'busy') {
        house.busy--
        guest.busy--
      }
      guest.waiting.delete(take)
      state = 'over'
      if (guest.busy + guest.waiting.size === 0) house.guests.delete(key)
      if (house.guests.size === 0) this.#houses.delete(instanceId)
      this.#serve(house)
    }
  }

  #serve(house: House): void {
    while (house.busy < this.#limits.maxLogins) {
      const next = this.#nextOf(house)
      if (next === undefined) return
      house.busy++
      next()
    }
  }

  #nextOf({ guests }: House): (() => void) | undefined {
    for (const [key, guest] of guests) {
      const [take] = guest.waiting
      if (take === undefined || guest.busy >= this.#limits.maxLoginsPerAddress) continue
      guest.busy++
      guest.waiting.delete(take)
      guests.delete(key)
      guests.set(key, guest)
      return take
    }
    return undefined
  }
}
