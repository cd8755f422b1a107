/** A deadline that does not come. */
export const NEVER = Number.POSITIVE_INFINITY

/** Something that must not stay as it is beyond `deadlineAt`, on the clock of `Deadlines`. */
export interface Deadlined {
  deadlineAt: number
  /** Called once the deadline has passed; it is NEVER by then. */
  expired(): void
}

/**
 * Deadlines of all connections, looked at a few times a second. A timer each would cost more than the requests themselves,
 * so the clock is as coarse as the tick and moving a deadline is one assignment.
 */
export class Deadlines {
  readonly #members = new Set<Deadlined>()
  readonly #timer: ReturnType<typeof setInterval>
  /** Milliseconds, monotonic, as of the last tick. */
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
