const HEAD_BYTES = 5
const LENGTH_BYTES = 4

/**
 * Follows the messages of one direction without keeping them: a byte of type, four of length, the rest. What it is told of are the messages
 * of wanted types, with as much of their body as may be of interest. Bytes that are none of the protocol end it: it follows no further.
 */
export class Frames {
  readonly #isWanted: (type: number) => number
  readonly #tell: (type: number, body: Buffer) => void
  readonly #head = Buffer.alloc(HEAD_BYTES)
  #headBytes = 0
  #left = 0
  #type = 0
  #body: Buffer | undefined
  #bodyBytes = 0
  #isLost = false

  /** `wanted` says how many bytes of the body of this type are kept, below 0 for one that is not told of. */
  constructor(wanted: (type: number) => number, tell: (type: number, body: Buffer) => void) {
    this.#isWanted = wanted
    this.#tell = tell
  }

  get isBetweenMessages(): boolean {
    return !this.#isLost && this.#headBytes === 0
  }

  get isLost(): boolean {
    return this.#isLost
  }

  follow(bytes: Buffer): void {
    let at = 0
    while (at < bytes.length && !this.#isLost) at = this.#headBytes < HEAD_BYTES ? this.#readHead(bytes, at) : this.#readBody(bytes, at)
  }

  #readHead(bytes: Buffer, at: number): number {
    const isWhole = this.#headBytes === 0 && bytes.length - at >= HEAD_BYTES
    const count = Math.min(HEAD_BYTES - this.#headBytes, bytes.length - at)
    if (!isWhole) bytes.copy(this.#head, this.#headBytes, at, at + count)
    this.#headBytes += count
    if (this.#headBytes === HEAD_BYTES) this.#begin(isWhole ? bytes : this.#head, isWhole ? at : 0)
    return at + count
  }

  #begin(head: Buffer, at: number): void {
    this.#type = head[at] ?? 0
    const length = head.readInt32BE(at + 1)
    if (length < LENGTH_BYTES) {
      this.#isLost = true
      return
    }
    this.#left = length - LENGTH_BYTES
    const kept = this.#isWanted(this.#type)
    this.#body = kept < 0 ? undefined : kept === 0 ? NOTHING : Buffer.alloc(Math.min(kept, this.#left))
    this.#bodyBytes = 0
    if (this.#left === 0) this.#end()
  }

  #readBody(bytes: Buffer, at: number): number {
    const count = Math.min(this.#left, bytes.length - at)
    const body = this.#body
    if (body !== undefined && this.#bodyBytes < body.length) this.#bodyBytes += bytes.copy(body, this.#bodyBytes, at, at + count)
    this.#left -= count
    if (this.#left === 0) this.#end()
    return at + count
  }

  #end(): void {
    this.#headBytes = 0
    const body = this.#body
    this.#body = undefined
    if (body !== undefined) this.#tell(this.#type, body)
  }
}

const NOTHING = Buffer.alloc(0)
