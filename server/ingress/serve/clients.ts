import type { ClientSocket, Connection } from '../exchange/client-context.ts'
import type { ConnectionLimits } from '../limits/connection-limits.ts'
import type { ReportedCount } from '../limits/reported-count.ts'
import { within } from '../limits/within.ts'

export interface EndOptions {
  graceMs: number
  giveUp: () => void
  lingerMs: number
}

export interface ClientsOptions {
  connectionLimits: ConnectionLimits
  turnedAway: ReportedCount
}

export class Clients {
  readonly #options: ClientsOptions
  readonly #connections = new Map<Connection, string>()
  readonly #waiting = new Set<() => void>()
  #isEnding = false

  constructor(options: ClientsOptions) {
    this.#options = options
  }

  get isEnding(): boolean {
    return this.#isEnding
  }

  get count(): number {
    return this.#connections.size
  }

  admit(socket: ClientSocket, create: () => Connection): void {
    const key = this.#options.connectionLimits.admit(socket.remoteAddress)
    if (key === undefined) {
      this.#options.turnedAway.count(socket.remoteAddress)
      socket.terminate()
      return
    }
    socket.data = create()
    this.#connections.set(socket.data, key)
  }

  replace(from: Connection, to: Connection): void {
    const key = this.#connections.get(from)
    if (key === undefined) return
    this.#connections.delete(from)
    this.#connections.set(to, key)
  }

  leave(connection: Connection): void {
    const key = this.#connections.get(connection)
    if (key === undefined) return
    this.#connections.delete(connection)
    this.#options.connectionLimits.release(key)
    if (this.#connections.size > 0) return
    for (const resume of this.#waiting) resume()
    this.#waiting.clear()
  }

  retire(): Promise<void> {
    this.#isEnding = true
    for (const connection of this.#connections.keys()) connection.announceEnd?.()
    return this.#allGone()
  }

  closeIdle(): void {
    for (const connection of this.#connections.keys()) connection.closeWhenIdle()
  }

  async end({ graceMs, giveUp, lingerMs }: EndOptions): Promise<void> {
    this.#isEnding = true
    this.closeIdle()
    await within(graceMs, this.#allGone())
    giveUp()
    await within(lingerMs, this.#allGone())
    for (const connection of this.#connections.keys()) connection.drop()
  }

  #allGone(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#connections.size === 0) resolve()
      else this.#waiting.add(resolve)
    })
  }
}
