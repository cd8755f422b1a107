interface Part {
  bytes: Buffer
  from: number
  to: number
}

/** Bytes that wait, in the order they came, as the parts of buffers they came in. Those must not change meanwhile. */
export class ByteQueue {
  #parts: Part[] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  push(bytes: Buffer, from: number, to: number): void {
    if (to === from) return
    this.#parts.push({ bytes, from, to })
    this.#length += to - from
  }

  /** Moves the first `count` bytes to `target` at `at`. */
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
    if (index > 0) this.#parts = this.#parts.slice(index)
    this.#length -= count - left
  }

  /** All of it in one piece, which is copied only when there are several. */
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

  clear(): void {
    this.#parts = []
    this.#length = 0
  }
}
