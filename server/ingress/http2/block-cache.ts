/** Heads differ where a cookie or a time to the second differs: few are worth keeping, none for long. */
const MAX_ENTRIES = 64
const MAX_BLOCK_BYTES = 1024

/** Field blocks by the text of the head they were made of: an upstream says nearly the same with every answer. */
export class BlockCache {
  readonly #blocks = new Map<string, Buffer>()

  get(head: string): Buffer | undefined {
    return this.#blocks.get(head)
  }

  keep(head: string, bytes: Buffer, length: number): void {
    if (length > MAX_BLOCK_BYTES) return
    if (this.#blocks.size >= MAX_ENTRIES) {
      const [oldest] = this.#blocks.keys()
      if (oldest !== undefined) this.#blocks.delete(oldest)
    }
    this.#blocks.set(head, Buffer.from(bytes.subarray(0, length)))
  }
}
