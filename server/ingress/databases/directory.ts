import type { DatabaseKind, DatabaseRoutes } from '../tables/database-route.ts'
import type { PassedOn } from '../traffic/counters.ts'
import { type Admission, admissionOf, type Listed, listed } from './admission.ts'
import type { Relay } from './relay.ts'

/** All databases that are reached from outside, and who is connected to them through here. */
export class Directory {
  #listed: ReadonlyMap<string, Listed> = new Map()
  #byHost: ReadonlyMap<string, Listed> = new Map()
  readonly #relays = new Set<Relay>()
  readonly #counts = new Map<string, number>()
  readonly #passedOn = new Map<string, PassedOn>()

  /** Who is not let in any more is cut off, with a word where that is possible. */
  apply(routes: DatabaseRoutes): void {
    const before = this.#listed
    this.#listed = new Map(
      Object.entries(routes).map(([id, route]) => {
        const known = before.get(id)
        return [id, known?.route === route ? known : listed(id, route)]
      }),
    )
    this.#byHost = new Map([...this.#listed.values()].flatMap((one) => namesOf(one)))
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
    this.#count(relay, 1)
  }

  remove(relay: Relay): void {
    if (this.#relays.delete(relay)) this.#count(relay, -1)
    this.#tally(relay)
  }

  /** Bytes that were brought since this was asked last, of sessions that are over too. */
  passedOn(): PassedOn[] {
    for (const relay of this.#relays) this.#tally(relay)
    const passedOn = [...this.#passedOn.values()]
    this.#passedOn.clear()
    return passedOn
  }

  #count({ target: { instanceId } }: Relay, change: number): void {
    const count = this.countOf(instanceId) + change
    if (count === 0) this.#counts.delete(instanceId)
    else this.#counts.set(instanceId, count)
  }

  #tally(relay: Relay): void {
    const { receivedBytes, sentBytes } = relay.takeCounts()
    if (receivedBytes + sentBytes === 0) return
    const { id } = relay
    const { instanceId } = relay.target
    const sum = this.#passedOn.get(instanceId) ?? { id, instanceId, receivedBytes: 0, sentBytes: 0 }
    sum.receivedBytes += receivedBytes
    sum.sentBytes += sentBytes
    this.#passedOn.set(instanceId, sum)
  }

  countOf(instanceId: string): number {
    return this.#counts.get(instanceId) ?? 0
  }

  cut(instanceId: string): void {
    for (const relay of [...this.#relays]) if (relay.target.instanceId === instanceId) relay.drop()
  }
}

function namesOf(one: Listed): [string, Listed][] {
  const { pool, host } = one.route
  if (pool === undefined) return [[host, one]]
  const targets = one.route.targets.map((target) => ({ ...target, port: pool.port }))
  return [
    [host, one],
    [pool.host, { ...one, route: { ...one.route, targets } }],
  ]
}

/** One that is only away for a moment ends its connections itself. */
const isOut = (admission: Admission): boolean => 'refusal' in admission && admission.refusal !== 'unavailable'
