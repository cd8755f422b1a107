import { BadMessage } from './bad-message.ts'

const NOTHING = Buffer.alloc(0)
const LF = 10
const CR = 13
const END_OF_HEAD = '\r\n\r\n'

/** Received bytes that have not been used yet. */
export class ByteFeed {
  #bytes: Buffer = NOTHING
  /** Up to here no end of a head begins. */
  #searchedTo = 0

  get length(): number {
    return this.#bytes.length
  }

  push(bytes: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes])
  }

  peek(): Buffer {
    return this.#bytes
  }

  take(count: number): Buffer {
    const taken = count === this.#bytes.length ? this.#bytes : this.#bytes.subarray(0, count)
    this.#drop(count)
    return taken
  }

  /**
   * Takes a whole head as latin1 text including its empty line, or nothing while it is incomplete.
   * Throws BadMessage 431 beyond `maxBytes`, and 400 as soon as a line ends with a bare LF.
   */
  takeHead(maxBytes: number): string | undefined {
    const start = this.#bytes.indexOf(END_OF_HEAD, this.#searchedTo, 'latin1')
    if (start < 0) {
      refuseBareLineFeed(this.#bytes, this.#searchedTo)
      this.#searchedTo = Math.max(0, this.#bytes.length - END_OF_HEAD.length + 1)
    }
    if ((start < 0 ? this.#bytes.length : start) > maxBytes) throw new BadMessage(431, `the head is longer than ${maxBytes} bytes`)
    if (start < 0) return undefined
    const length = start + END_OF_HEAD.length
    const head = this.#bytes.toString('latin1', 0, length)
    this.#drop(length)
    return head
  }

  #drop(count: number): void {
    this.#bytes = count === this.#bytes.length ? NOTHING : this.#bytes.subarray(count)
    this.#searchedTo = 0
  }
}

/** Without this a head that ends its lines with LF alone would be waited for until it times out. */
function refuseBareLineFeed(bytes: Buffer, from: number): void {
  for (let at = bytes.indexOf(LF, from); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (at === 0 || bytes[at - 1] !== CR) throw new BadMessage(400, 'a line ends with a bare LF')
  }
}
