import type { SessionWatch } from '../databases/relay.ts'

const [ERROR, LINE_END] = ['-', '\n'].map((character) => character.charCodeAt(0))

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
    // Every answer ends with a line; a large one that is under way does not.
    this.#isAnswered = bytes.at(-1) === LINE_END
  }

  get isLetIn(): boolean {
    return this.#isLetIn ?? false
  }

  get isIdle(): boolean {
    return this.#isAnswered
  }

  farewell(): undefined {}
}
