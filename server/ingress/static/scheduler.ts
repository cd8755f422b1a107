export interface SchedulerLimits {
  running: number
  waitingPerOwner: number
  waiting: number
}

export class FairScheduler {
  readonly #limits: SchedulerLimits
  readonly #waiting = new Map<string, (() => void)[]>()
  #waitingCount = 0
  #running = 0

  constructor(limits: SchedulerLimits) {
    this.#limits = limits
  }

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
