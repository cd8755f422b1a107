import { BadMessage } from './bad-message.ts'

const NOTHING = Buffer.alloc(0)
const LF = 10
const CR = 13
const END_OF_HEAD = Buffer.from('\r\n\r\n')

/** Received bytes that have not been used yet: those of `bytes` from `from` on. A subarray for each use would cost an allocation. */
export class ByteFeed {
  #bytes: Buffer = NOTHING
  #from = 0
  #searchedTo = 0

  get length(): number {
    return this.#bytes.length - this.#from
  }

  get bytes(): Buffer {
    return this.#bytes
  }

  get from(): number {
    return this.#from
  }

  push(bytes: Buffer): void {
    this.#searchedTo = Math.max(0, this.#searchedTo - this.#from)
    this.#bytes = this.length === 0 ? bytes : Buffer.concat([this.#bytes.subarray(this.#from), bytes])
    this.#from = 0
  }

  takeAll(): Buffer {
    const taken = this.#bytes.subarray(this.#from)
    this.drop(this.length)
    return taken
  }

  drop(count: number): void {
    this.#from += count
    this.#searchedTo = this.#from
    if (this.#from === this.#bytes.length) this.#bytes = NOTHING
    if (this.#bytes === NOTHING) this.#from = this.#searchedTo = 0
  }

  /** A whole head as latin1 text with its empty line. Throws BadMessage 431 beyond `maxBytes`, and 400 as soon as a line ends with a bare LF. */
  takeHead(maxBytes: number): string | undefined {
    const end = this.#bytes.indexOf(END_OF_HEAD, this.#searchedTo)
    if (end < 0) {
      refuseBareLineFeed(this.#bytes, this.#from, this.#searchedTo)
      this.#searchedTo = Math.max(this.#from, this.#bytes.length - END_OF_HEAD.length + 1)
    }
    // The last bytes of an unfinished head may already belong to its end, which does not count.
    const lengthBytes = (end < 0 ? this.#bytes.length - END_OF_HEAD.length + 1 : end) - this.#from
    if (lengthBytes > maxBytes) throw new BadMessage(431, `the head is longer than ${maxBytes} bytes`)
    if (end < 0) return undefined
    const head = this.#bytes.toString('latin1', this.#from, end + END_OF_HEAD.length)
    this.drop(head.length)
    return head
  }
}

function refuseBareLineFeed(bytes: Buffer, headFrom: number, from: number): void {
  for (let at = bytes.indexOf(LF, from); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (at === headFrom || bytes[at - 1] !== CR) throw new BadMessage(400, 'a line ends with a bare LF')
  }
}
