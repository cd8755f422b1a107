export interface SchedulerLimits {
  /** Pieces of work at a time. */
  running: number
  waitingPerOwner: number
  waiting: number
}

/** Lets work run, so much at a time, and the owners of what waits take turns. What there is no room for is refused. */
export class FairScheduler {
  readonly #limits: SchedulerLimits
  /** In the order of their next turn. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #waitingCount = 0
  #running = 0

  constructor(limits: SchedulerLimits) {
    this.#limits = limits
  }

  /** Runs it when its turn has come; undefined when too much waits already. */
  run<T>(owner: string, work: () => Promise<T>): Promise<T> | undefined {
    if (this.#running < this.#limits.running) {
      this.#running++
      return this.#do(work)
    }
    const own = this.#waiting.get(owner) ?? []
    if (own.length >= this.#limits.waitingPerOwner || this.#waitingCount >= this.#limits.waiting) return undefined
    const turn = Promise.withResolvers<void>()
    own.push(turn.resolve)
    this.#waiting.set(owner, own)
    this.#waitingCount++
    return turn.promise.then(() => this.#do(work))
  }

  async #do<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } finally {
      this.#passOn()
    }
  }

  /** The next one takes the place of the one that is done. */
  #passOn(): void {
    const [first] = this.#waiting
    if (first === undefined) {
      this.#running--
      return
    }
    const [owner, own] = first
    const next = own.shift()
    this.#waiting.delete(owner)
    if (own.length > 0) this.#waiting.set(owner, own)
    this.#waitingCount--
    next?.()
  }
}
