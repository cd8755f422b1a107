interface Part {
  bytes: Buffer
  from: number
  to: number
}

/** Smaller ones are copied together: each by itself would cost more than what it holds. */
const SMALL_BYTES = 512
const GATHERED_BYTES = 4096

/** Bytes that wait, in the order they came, as the parts of buffers they came in. Those must not change meanwhile. */
export class ByteQueue {
  #parts: Part[] = []
  #length = 0
  #gathered: Part | undefined

  get length(): number {
    return this.#length
  }

  push(bytes: Buffer, from: number, to: number): void {
    const count = to - from
    if (count === 0) return
    this.#length += count
    if (count < SMALL_BYTES) {
      this.#gather(bytes, from, to)
      return
    }
    this.#gathered = undefined
    this.#parts.push({ bytes, from, to })
  }

  moveTo(target: Buffer, at: number, count: number): void {
    let left = count
    let index = 0
    for (let part = this.#parts[0]; part !== undefined && left > 0; part = this.#parts[index]) {
      const taken = Math.min(left, part.to - part.from)
      part.bytes.copy(target, at + count - left, part.from, part.from + taken)
      part.from += taken
      left -= taken
      if (part.from === part.to) index++
    }
    this.#length -= count - left
    if (index === 0) return
    this.#parts = this.#parts.slice(index)
    if (this.#parts.length === 0) this.#gathered = undefined
  }

  takeAll(): Buffer {
    const [first, ...others] = this.#parts
    if (first === undefined) return Buffer.alloc(0)
    if (others.length === 0) {
      this.clear()
      return first.bytes.subarray(first.from, first.to)
    }
    const all = Buffer.allocUnsafe(this.#length)
    this.moveTo(all, 0, all.length)
    return all
  }

  /** Copies the parts that would keep a buffer alive of which they are the smaller half. */
  own(): void {
    for (const part of this.#parts) {
      if ((part.to - part.from) * 2 >= part.bytes.buffer.byteLength || part === this.#gathered) continue
      part.bytes = Buffer.from(part.bytes.subarray(part.from, part.to))
      part.from = 0
      part.to = part.bytes.length
    }
  }

  clear(): void {
    this.#parts = []
    this.#gathered = undefined
    this.#length = 0
  }

  #gather(bytes: Buffer, from: number, to: number): void {
    if (this.#gathered === undefined || this.#gathered.to + to - from > GATHERED_BYTES) {
      this.#gathered = { bytes: Buffer.allocUnsafe(GATHERED_BYTES), from: 0, to: 0 }
      this.#parts.push(this.#gathered)
    }
    const gathered = this.#gathered
    bytes.copy(gathered.bytes, gathered.to, from, to)
    gathered.to += to - from
  }
}
