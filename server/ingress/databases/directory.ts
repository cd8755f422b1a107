import type { DatabaseKind, DatabaseRoutes } from '../tables/database-route.ts'
import { type Admission, admissionOf, type Listed, listed } from './admission.ts'
import type { Relay } from './relay.ts'

/** All databases that are reached from outside, and who is connected to them through here. */
export class Directory {
  #listed: ReadonlyMap<string, Listed> = new Map()
  #byHost: ReadonlyMap<string, Listed> = new Map()
  readonly #relays = new Set<Relay>()

  /** Who is not let in any more is cut off, with a word where that is possible. */
  apply(routes: DatabaseRoutes): void {
    const before = this.#listed
    this.#listed = new Map(
      Object.entries(routes).map(([id, route]) => {
        const known = before.get(id)
        return [id, known?.route === route ? known : listed(id, route)]
      }),
    )
    this.#byHost = new Map([...this.#listed.values()].map((one) => [one.route.host, one]))
    for (const relay of [...this.#relays]) {
      const now = this.#listed.get(relay.id)
      if (now !== before.get(relay.id) && isOut(admissionOf(now, relay.address))) relay.drop()
    }
  }

  byHost(kind: DatabaseKind, host: string): Listed | undefined {
    const found = this.#byHost.get(host)
    return found?.route.kind === kind ? found : undefined
  }

  byId(kind: DatabaseKind, id: string): Listed | undefined {
    const found = this.#listed.get(id)
    return found?.route.kind === kind ? found : undefined
  }

  add(relay: Relay): void {
    this.#relays.add(relay)
  }

  remove(relay: Relay): void {
    this.#relays.delete(relay)
  }

  countOf(instanceId: string): number {
    return [...this.#relays].filter(({ target }) => target.instanceId === instanceId).length
  }

  cut(instanceId: string): void {
    for (const relay of [...this.#relays]) if (relay.target.instanceId === instanceId) relay.drop()
  }
}

/** One that is only away for a moment ends its connections itself. */
const isOut = (admission: Admission): boolean => 'refusal' in admission && admission.refusal !== 'unavailable'
