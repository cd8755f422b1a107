import type { UpstreamConnection } from './upstream-connection.ts'

export interface TargetUse {
  abandon(): void
}

/** One instance. The object outlives its place in the route table until its last request is answered. */
export class Target {
  readonly instanceId: string
  readonly host: string
  readonly port: number
  readonly requests = new Set<TargetUse>()
  readonly tunnels = new Set<TargetUse>()
  /** Last in, first out: the most recently used connection is the least likely to have been closed meanwhile. */
  readonly #idle: UpstreamConnection[] = []
  #isRetired = false

  constructor(address: { instanceId: string; host: string; port: number }) {
    this.instanceId = address.instanceId
    this.host = address.host
    this.port = address.port
  }

  get busyness(): number {
    return this.requests.size + this.tunnels.size
  }

  takeIdle(idleSince: number): UpstreamConnection | undefined {
    for (let last = this.#idle.at(-1); last !== undefined && last.idleSince >= idleSince; last = this.#idle.at(-1)) {
      this.#idle.pop()
      if (last.isUsable) return last
    }
    return undefined
  }

  keep(connection: UpstreamConnection): void {
    if (this.#isRetired) connection.close()
    else this.#idle.push(connection)
  }

  forget(connection: UpstreamConnection): void {
    const index = this.#idle.indexOf(connection)
    if (index >= 0) this.#idle.splice(index, 1)
  }

  /** No further request will come: the idle connections go, the busy ones finish. */
  retire(): void {
    this.#isRetired = true
    for (const connection of this.#idle.splice(0)) connection.close()
  }
}
