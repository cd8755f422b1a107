/** Keeps the values used last, as many as fit into a sum of sizes. */
export class ByteCache<V> {
  readonly #maxBytes: number
  readonly #entries = new Map<string, { value: V; sizeBytes: number }>()
  #sizeBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  set(key: string, value: V, sizeBytes: number): void {
    this.#delete(key)
    if (sizeBytes > this.#maxBytes) return
    this.#entries.set(key, { value, sizeBytes })
    this.#sizeBytes += sizeBytes
    for (const oldest of this.#entries.keys()) {
      if (this.#sizeBytes <= this.#maxBytes) return
      this.#delete(oldest)
    }
  }

  #delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#sizeBytes -= entry.sizeBytes
  }
}
