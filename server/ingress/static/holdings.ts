import type { Pieces } from './pieces.ts'

/**
 * Follows what of the cache is still on its way to clients. What the cache has let go of meanwhile is in memory all the same, for as
 * long as a slow client takes: there is a bound for that, beyond which nothing new enters the cache and so nothing more has to leave it.
 */
export class Holdings {
  readonly #maxBytes: number
  readonly #holders = new Map<Pieces, number>()
  readonly #gone = new Set<Pieces>()
  #goneBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get goneBytes(): number {
    return this.#goneBytes
  }

  get isFull(): boolean {
    return this.#goneBytes >= this.#maxBytes
  }

  hold(pieces: Pieces): void {
    this.#holders.set(pieces, (this.#holders.get(pieces) ?? 0) + 1)
  }

  release(pieces: Pieces): void {
    const left = (this.#holders.get(pieces) ?? 1) - 1
    if (left > 0) {
      this.#holders.set(pieces, left)
      return
    }
    this.#holders.delete(pieces)
    if (this.#gone.delete(pieces)) this.#goneBytes -= pieces.sizeBytes
  }

  left(pieces: Pieces): void {
    if (!this.#holders.has(pieces) || this.#gone.has(pieces)) return
    this.#gone.add(pieces)
    this.#goneBytes += pieces.sizeBytes
  }
}
