import type { HeldServicesAnswer } from '../control/protocol.ts'

/** Answers long polls: a caller names the revision up to which it knows the services that are waited for, and is answered when there are more. */
export class HeldServices {
  readonly #waitedFor: () => Iterable<string>
  readonly #publishedAt = new Map<string, number>()
  readonly #callers = new Set<() => void>()
  #revision = 0
  #isEnding = false

  constructor(waitedFor: () => Iterable<string>) {
    this.#waitedFor = waitedFor
  }

  publish(serviceId: string): void {
    this.#publishedAt.set(serviceId, ++this.#revision)
    this.answerCallers()
  }

  answerCallers(): void {
    for (const answer of [...this.#callers]) answer()
  }

  end(): void {
    this.#isEnding = true
    this.answerCallers()
  }

  async changesSince(known: number | undefined, patienceMs: number): Promise<HeldServicesAnswer> {
    // A revision from the future is another process's.
    const since = known === undefined || known > this.#revision ? 0 : known
    if (known !== undefined && since === this.#revision && !this.#isEnding) {
      // All are reported again after a quiet time, in case the first report was lost.
      if (await this.#isQuiet(patienceMs)) return this.#changesSince(0)
    }
    return this.#changesSince(since)
  }

  #changesSince(since: number): HeldServicesAnswer {
    const waitedFor = new Set(this.#waitedFor())
    for (const serviceId of this.#publishedAt.keys()) if (!waitedFor.has(serviceId)) this.#publishedAt.delete(serviceId)
    return { revision: this.#revision, serviceIds: [...waitedFor].filter((serviceId) => (this.#publishedAt.get(serviceId) ?? 0) > since) }
  }

  #isQuiet(patienceMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const answer = () => {
      clearTimeout(timer)
      this.#callers.delete(answer)
      resolve(false)
    }
    const timer = setTimeout(() => {
      this.#callers.delete(answer)
      resolve(true)
    }, patienceMs)
    this.#callers.add(answer)
    return promise
  }
}
