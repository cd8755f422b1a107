import type { SessionWatch } from '../databases/relay.ts'

/** Between an answer and the next command nothing is lost with a connection; clients connect again by themselves, and no word is said. */
export class KeyValueSession implements SessionWatch {
  #isAnswered = false

  clientSaid(): void {
    this.#isAnswered = false
  }

  serverSaid(): void {
    this.#isAnswered = true
  }

  get isIdle(): boolean {
    return this.#isAnswered
  }

  farewell(): undefined {}
}
