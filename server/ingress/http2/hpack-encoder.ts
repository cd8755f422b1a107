import { staticIndexOfName, staticIndexOfStatus } from './static-table.ts'

const INITIAL_BYTES = 16 * 1024
const SHORT_LENGTH = 24
const LONGEST_INTEGER_BYTES = 6
const LITERAL_PREFIX_BITS = 4
const INDEXED = 0x80

/**
 * Writes field blocks. It names fields of the static table and remembers nothing: no block depends on another one, none has to be
 * written in order, a peer's table size means nothing to it, and no value can be guessed from the size of what is sent (CRIME).
 */
export class HpackEncoder {
  #bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  #length = 0

  get bytes(): Buffer {
    return this.#bytes
  }

  get length(): number {
    return this.#length
  }

  begin(): void {
    this.#length = 0
  }

  append(block: Buffer): void {
    this.#reserve(block.length)
    block.copy(this.#bytes, this.#length)
    this.#length += block.length
  }

  status(status: number): void {
    this.#reserve(1)
    const index = staticIndexOfStatus.get(status)
    if (index === undefined) this.field(':status', String(status))
    else this.#put(INDEXED | index)
  }

  field(name: string, value: string): void {
    this.#reserve(name.length + value.length + 3 * LONGEST_INTEGER_BYTES)
    const index = staticIndexOfName.get(name)
    if (index === undefined) {
      this.#put(0)
      this.#string(name)
    } else {
      this.#integer(index, LITERAL_PREFIX_BITS)
    }
    this.#string(value)
  }

  #string(text: string): void {
    const { length } = text
    this.#integer(length, 7)
    const bytes = this.#bytes
    const start = this.#length
    if (length > SHORT_LENGTH) bytes.write(text, start, 'latin1')
    else for (let at = 0; at < length; at++) bytes[start + at] = text.charCodeAt(at)
    this.#length = start + length
  }

  #integer(value: number, prefixBits: number): void {
    const limit = (1 << prefixBits) - 1
    if (value < limit) {
      this.#put(value)
      return
    }
    this.#put(limit)
    let rest = value - limit
    for (; rest >= 128; rest >>>= 7) this.#put((rest & 0x7f) | 0x80)
    this.#put(rest)
  }

  #put(byte: number): void {
    this.#bytes[this.#length++] = byte
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(2 * (this.#length + count))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}
