/** How much of something is borne: so much at once, and so much each second after that. */
export interface Allowance {
  burst: number
  perSecond: number
}

const MS_PER_SECOND = 1000

export class FloodGuard {
  readonly #allowance: Allowance
  #left: number
  #refilledAt: number

  constructor(allowance: Allowance, now: number) {
    this.#allowance = allowance
    this.#left = allowance.burst
    this.#refilledAt = now
  }

  bears(now: number): boolean {
    if (--this.#left >= 0) return true
    const { burst, perSecond } = this.#allowance
    this.#left = Math.min(burst, this.#left + ((now - this.#refilledAt) / MS_PER_SECOND) * perSecond)
    this.#refilledAt = now
    return this.#left >= 0
  }

  earn(count: number): void {
    this.#left = Math.min(this.#allowance.burst, this.#left + count)
  }
}
