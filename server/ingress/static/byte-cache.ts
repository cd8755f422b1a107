interface Entry<V> {
  value: V
  sizeBytes: number
  isUsed: boolean
}

/** Keeps values, as many as fit into a sum of sizes. When one has to go it is the oldest that has not been used meanwhile. */
export class ByteCache<V> {
  readonly #maxBytes: number
  readonly #entries = new Map<string, Entry<V>>()
  readonly #onLeave: (value: V) => void
  #sizeBytes = 0

  constructor(maxBytes: number, onLeave: (value: V) => void = () => {}) {
    this.#maxBytes = maxBytes
    this.#onLeave = onLeave
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    entry.isUsed = true
    return entry.value
  }

  set(key: string, value: V, sizeBytes: number): void {
    this.#delete(key)
    if (sizeBytes > this.#maxBytes) return
    this.#makeRoom(sizeBytes)
    this.#entries.set(key, { value, sizeBytes, isUsed: false })
    this.#sizeBytes += sizeBytes
  }

  #makeRoom(sizeBytes: number): void {
    for (const [key, entry] of this.#entries) {
      if (this.#sizeBytes + sizeBytes <= this.#maxBytes) return
      this.#delete(key)
      if (!entry.isUsed) {
        this.#onLeave(entry.value)
        continue
      }
      entry.isUsed = false
      this.#entries.set(key, entry)
      this.#sizeBytes += entry.sizeBytes
    }
  }

  #delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#sizeBytes -= entry.sizeBytes
  }
}
