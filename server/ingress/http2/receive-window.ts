export class ReceiveWindow {
  readonly #sizeBytes: number
  #leftBytes: number
  #usedBytes = 0

  constructor(sizeBytes: number) {
    this.#sizeBytes = sizeBytes
    this.#leftBytes = sizeBytes
  }

  get heldBytes(): number {
    return this.#sizeBytes - this.#leftBytes - this.#usedBytes
  }

  take(bytes: number): boolean {
    this.#leftBytes -= bytes
    return this.#leftBytes >= 0
  }

  /** So much has been used. Returns by how much the peer is to be told that it may send more: not for every trifle. */
  giveBack(bytes: number): number {
    this.#usedBytes += bytes
    if (this.#usedBytes * 2 < this.#sizeBytes) return 0
    const increment = this.#usedBytes
    this.#leftBytes += increment
    this.#usedBytes = 0
    return increment
  }
}
