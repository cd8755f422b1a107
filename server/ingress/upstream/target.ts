import type { UpstreamConnection } from './upstream-connection.ts'

/** Something a target is busy with, and how to end it before its time. */
export interface TargetUse {
  /** Ends it as politely as its state allows. */
  abandon(): void
}

/**
 * One instance as the ingress knows it: where it listens, what it is busy with, and the idle connections to it.
 * It outlives its place in the route table until its last request is answered.
 */
export class Target {
  readonly instanceId: string
  readonly host: string
  readonly port: number
  /** Requests whose response is not whole yet. */
  readonly requests = new Set<TargetUse>()
  /** Connections that have changed their protocol, WebSockets above all. */
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

  /** The connection used last, unless it has been idle since before `idleSince`. */
  takeIdle(idleSince: number): UpstreamConnection | undefined {
    for (let last = this.#idle.at(-1); last !== undefined && last.idleSince >= idleSince; last = this.#idle.at(-1)) {
      this.#idle.pop()
      if (last.isUsable) return last
    }
    return undefined
  }

  /** Keeps a connection for the next request, or closes it when there will be none. */
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
