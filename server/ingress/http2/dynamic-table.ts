import type { HeaderField } from './header-field.ts'

const SMALLEST_FIELD_BYTES = 32

/** The fields a peer has asked to remember, newest first, up to a size (RFC 7541 section 2.3.2); a ring, so that nothing moves when one is added. */
export class DynamicTable {
  readonly #ring: (HeaderField | undefined)[]
  #maxBytes: number
  #newest = 0
  #count = 0
  #sizeBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#ring = new Array(Math.max(1, Math.floor(maxBytes / SMALLEST_FIELD_BYTES))).fill(undefined)
  }

  get length(): number {
    return this.#count
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  at(index: number): HeaderField | undefined {
    return index < this.#count ? this.#ring[(this.#newest + index) % this.#ring.length] : undefined
  }

  /** One that is larger than the table empties it and is not remembered (section 4.4). */
  add(field: HeaderField): void {
    const sizeBytes = field.sizeBytes
    this.#shrinkTo(this.#maxBytes - sizeBytes)
    if (sizeBytes > this.#maxBytes) return
    this.#newest = (this.#newest + this.#ring.length - 1) % this.#ring.length
    this.#ring[this.#newest] = field
    this.#count++
    this.#sizeBytes += sizeBytes
  }

  resize(maxBytes: number): void {
    this.#maxBytes = maxBytes
    this.#shrinkTo(maxBytes)
  }

  #shrinkTo(maxBytes: number): void {
    while (this.#count > 0 && this.#sizeBytes > maxBytes) {
      const oldest = (this.#newest + this.#count - 1) % this.#ring.length
      this.#sizeBytes -= this.#ring[oldest]?.sizeBytes ?? 0
      this.#ring[oldest] = undefined
      this.#count--
    }
  }
}
