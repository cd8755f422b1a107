export const NEVER = Number.POSITIVE_INFINITY

export interface Deadlined {
  deadlineAt: number
  expired(): void
}

/**
 * Deadlines of all connections, looked at a few times a second. A timer each would cost more than the requests themselves,
 * so the clock is as coarse as the tick and moving a deadline is one assignment.
 */
export class Deadlines {
  readonly #members = new Set<Deadlined>()
  readonly #timer: ReturnType<typeof setInterval>
  now = performance.now()

  constructor(tickMs: number) {
    this.#timer = setInterval(() => this.#tick(), tickMs)
  }

  add(member: Deadlined): void {
    this.#members.add(member)
  }

  delete(member: Deadlined): void {
    this.#members.delete(member)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#members.clear()
  }

  #tick(): void {
    this.now = performance.now()
    for (const member of this.#members) {
      if (member.deadlineAt > this.now) continue
      member.deadlineAt = NEVER
      member.expired()
    }
  }
}
