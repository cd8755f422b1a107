import type { ProxyTarget } from '../tables/proxy-target.ts'
import type { RouteTable } from '../tables/route-table.ts'
import { Target } from './target.ts'

export interface DrainState {
  inFlight: number
  tunnels: number
}

export class Targets {
  #current = new Map<string, Target>()
  readonly #leaving = new Set<Target>()
  #turn = 0

  apply(table: RouteTable): void {
    const next = new Map<string, Target>()
    for (const address of addressesOf(table)) {
      const known = this.#current.get(address.instanceId)
      const isSame = known !== undefined && known.host === address.host && known.port === address.port
      next.set(address.instanceId, isSame ? known : new Target(address))
    }
    for (const target of this.#current.values()) if (next.get(target.instanceId) !== target) this.#retire(target)
    this.#current = next
    this.#forgetDrained()
  }

  /** The least busy of the given targets that is not excluded; equally busy ones take turns. */
  choose(targets: readonly ProxyTarget[], excluded: ReadonlySet<Target> | undefined): Target | undefined {
    let best: Target | undefined
    const offset = this.#turn++
    for (let index = 0; index < targets.length; index++) {
      const address = targets[(index + offset) % targets.length]
      const target = address && this.#current.get(address.instanceId)
      if (target === undefined || excluded?.has(target)) continue
      if (best === undefined || target.busyness < best.busyness) best = target
    }
    return best
  }

  drainState(instanceId: string): DrainState {
    const state = { inFlight: 0, tunnels: 0 }
    for (const target of this.#of(instanceId)) {
      state.inFlight += target.requests.size
      state.tunnels += target.tunnels.size
    }
    return state
  }

  closeTunnels(instanceId: string): void {
    for (const target of this.#of(instanceId)) for (const tunnel of [...target.tunnels]) tunnel.abandon()
  }

  abortRequests(instanceId: string): void {
    for (const target of this.#of(instanceId)) for (const request of [...target.requests]) request.abandon()
  }

  closeAllTunnels(): void {
    for (const target of [...this.#current.values(), ...this.#leaving]) for (const tunnel of [...target.tunnels]) tunnel.abandon()
  }

  abandonAll(): void {
    for (const target of [...this.#current.values(), ...this.#leaving]) {
      for (const use of [...target.requests, ...target.tunnels]) use.abandon()
    }
  }

  retireAll(): void {
    for (const target of this.#current.values()) this.#retire(target)
    this.#current.clear()
  }

  #of(instanceId: string): Target[] {
    const current = this.#current.get(instanceId)
    const leaving = [...this.#leaving].filter((target) => target.instanceId === instanceId)
    return current === undefined ? leaving : [current, ...leaving]
  }

  #retire(target: Target): void {
    target.retire()
    this.#leaving.add(target)
  }

  #forgetDrained(): void {
    for (const target of this.#leaving) if (target.busyness === 0) this.#leaving.delete(target)
  }
}

function addressesOf(table: RouteTable): ProxyTarget[] {
  return Object.values(table.hosts).flatMap((route) => (route.kind === 'proxy' ? route.targets : []))
}
