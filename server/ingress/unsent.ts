import { networkOf } from './seats.ts'

/** What waits in memory because of the clients of one address: for them to take it, or for an instance to take it from them. */
interface Share {
  bytes: number
  accounts: number
  /** Trusted proxies speak for many. */
  isTrusted: boolean
}

/** What one connection makes us keep. */
export interface Account {
  /** Whether new requests of this address are to be refused until some of what waits has gone. */
  readonly isCrowded: boolean
  /** It keeps so much now. Whether that may stay so. */
  set(bytes: number): boolean
  close(): void
}

/**
 * Shares out the memory in which bytes may wait. One address may have half of what is left, so that there is always something left
 * for another, however many have come before (the dynamic threshold of Choudhury and Hahne, 1998). From half of its share on an
 * address gets no new requests; beyond the share the connection that went too far is to end.
 */
export class Unsent {
  readonly #maxBytes: number
  readonly #isTrusted: (address: string) => boolean
  readonly #shares = new Map<string, Share>()
  #totalBytes = 0

  constructor(maxBytes: number, isTrusted: (address: string) => boolean) {
    this.#maxBytes = maxBytes
    this.#isTrusted = isTrusted
  }

  get totalBytes(): number {
    return this.#totalBytes
  }

  open(address: string): Account {
    const isTrusted = this.#isTrusted(address)
    const key = isTrusted ? '' : networkOf(address)
    const share = this.#shares.get(key) ?? { bytes: 0, accounts: 0, isTrusted }
    this.#shares.set(key, share)
    share.accounts++
    let own = 0
    const move = (bytes: number) => {
      share.bytes += bytes - own
      this.#totalBytes += bytes - own
      own = bytes
    }
    const roomOf = () => this.#roomFor(share)
    return {
      get isCrowded() {
        return share.bytes * 2 > roomOf()
      },
      set(bytes) {
        if (bytes === own) return true
        const grows = bytes > own
        move(bytes)
        return !grows || share.bytes <= roomOf()
      },
      close: () => {
        move(0)
        if (--share.accounts === 0) this.#shares.delete(key)
      },
    }
  }

  #roomFor({ isTrusted }: Share): number {
    const left = Math.max(0, this.#maxBytes - this.#totalBytes)
    return isTrusted ? left : left / 2
  }
}
