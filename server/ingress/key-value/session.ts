import type { SessionWatch } from '../databases/relay.ts'

const ERROR = '-'.charCodeAt(0)

/** Between an answer and the next command nothing is lost with a connection; clients connect again by themselves, and no word is said. */
export class KeyValueSession implements SessionWatch {
  #isAnswered = false
  #isLetIn: boolean | undefined

  clientSaid(): void {
    this.#isAnswered = false
  }

  /** Whether the first command, which says who this is, was answered by an error. A later one that names a user again does not count. */
  serverSaid(bytes: Buffer): void {
    this.#isLetIn ??= bytes[0] !== ERROR
    this.#isAnswered = true
  }

  get isLetIn(): boolean {
    return this.#isLetIn ?? false
  }

  get isIdle(): boolean {
    return this.#isAnswered
  }

  farewell(): undefined {}
}
