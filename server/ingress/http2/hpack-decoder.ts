import { DynamicTable } from './dynamic-table.ts'
import { HeaderField } from './header-field.ts'
import { ConnectionError, ErrorCode } from './http2-error.ts'
import { decodeHuffman } from './huffman.ts'
import { staticFields } from './static-table.ts'

export interface HpackLimits {
  maxTableBytes: number
  maxListBytes: number
}

export interface FieldBlock {
  fields: HeaderField[]
  /** Whether the fields are more than may be; the block was followed to its end all the same, as the table depends on it. */
  isTooLarge: boolean
}

const MAX_INTEGER_SHIFT = 21

/** Reads the field blocks of one connection in the order they came (RFC 7541). Throws ConnectionError, after which it must not be used. */
export class HpackDecoder {
  readonly #limits: HpackLimits
  readonly #table: DynamicTable
  #bytes: Buffer = Buffer.alloc(0)
  #at = 0
  #to = 0

  constructor(limits: HpackLimits) {
    this.#limits = limits
    this.#table = new DynamicTable(limits.maxTableBytes)
  }

  get table(): DynamicTable {
    return this.#table
  }

  decode(bytes: Buffer, from: number, to: number): FieldBlock {
    this.#bytes = bytes
    this.#at = from
    this.#to = to
    const fields: HeaderField[] = []
    let sizeBytes = 0
    let isTooLarge = false
    while (this.#at < to) {
      const field = this.#next(sizeBytes === 0)
      if (field === undefined) continue
      sizeBytes += field.sizeBytes
      if (sizeBytes > this.#limits.maxListBytes) isTooLarge = true
      else fields.push(field)
    }
    return { fields, isTooLarge }
  }

  #next(isAtBeginning: boolean): HeaderField | undefined {
    const first = this.#bytes[this.#at] ?? 0
    if ((first & 0x80) !== 0) return this.#field(this.#integer(7))
    if ((first & 0x40) !== 0) {
      const field = this.#literal(6)
      this.#table.add(field)
      return field
    }
    if ((first & 0x20) === 0) return this.#literal(4)
    if (!isAtBeginning) throw broken('the table changes its size in the middle of a block')
    this.#resize(this.#integer(5))
    return undefined
  }

  #resize(sizeBytes: number): void {
    if (sizeBytes > this.#limits.maxTableBytes) throw broken('the table is made larger than allowed')
    this.#table.resize(sizeBytes)
  }

  #field(index: number): HeaderField {
    const field = index <= staticFields.length ? staticFields[index - 1] : this.#table.at(index - staticFields.length - 1)
    if (field === undefined) throw broken(`there is no field ${index}`)
    return field
  }

  #literal(prefixBits: number): HeaderField {
    const index = this.#integer(prefixBits)
    const name = index === 0 ? this.#string() : this.#field(index).name
    return new HeaderField(name, this.#string())
  }

  #string(): string {
    if (this.#at >= this.#to) throw truncated()
    const isHuffman = ((this.#bytes[this.#at] ?? 0) & 0x80) !== 0
    const length = this.#integer(7)
    const from = this.#at
    const to = from + length
    if (to > this.#to) throw truncated()
    this.#at = to
    return isHuffman ? decodeHuffman(this.#bytes, from, to) : this.#bytes.toString('latin1', from, to)
  }

  /** RFC 7541 section 5.1; the bits above the prefix are somebody else's. */
  #integer(prefixBits: number): number {
    const limit = (1 << prefixBits) - 1
    const prefix = (this.#bytes[this.#at++] ?? 0) & limit
    if (prefix < limit) return prefix
    let value = limit
    for (let shift = 0; shift <= MAX_INTEGER_SHIFT; shift += 7) {
      if (this.#at >= this.#to) throw truncated()
      const byte = this.#bytes[this.#at++] ?? 0
      value += (byte & 0x7f) << shift
      if ((byte & 0x80) === 0) return value
    }
    throw broken('a number is too large')
  }
}

function broken(message: string): ConnectionError {
  return new ConnectionError(ErrorCode.compressionError, message)
}

function truncated(): ConnectionError {
  return broken('a field block ends in the middle of a field')
}
