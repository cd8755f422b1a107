import { networkOf } from '../../platform/network/network-of.ts'
import type { IngressLimits } from './limits.ts'

interface Share {
  bytes: number
  streams: number
  accounts: Set<Owner>
  isTrusted: boolean
}

interface Owner {
  bytes: number
  streams: number
  isEvicted: boolean
  evict(): void
}

export type UnsentLimits = Pick<IngressLimits, 'maxUnsentBytes' | 'maxOpenStreams'>

export interface Account {
  readonly isCrowded: boolean
  /** Reports how much the connection keeps now. Where that is too much, `evict` is called: of this connection, or of one that keeps far more. */
  set(bytes: number, streams: number): void
  close(): void
}

/**
 * Shares out the memory in which bytes may wait, and requests that HTTP/2 lets a connection have at a time. One address may have half of what is left (the dynamic threshold of Choudhury and
 * Hahne, 1998). From half of its share on it gets no new requests; beyond the share the connection that went too far is to end, unless
 * there is another address that has more than twice as much, which then loses the connection that keeps most.
 */
export class Unsent {
  readonly #maxBytes: number
  readonly #maxStreams: number
  readonly #isTrusted: (address: string) => boolean
  readonly #shares = new Map<string, Share>()
  #totalBytes = 0
  #totalStreams = 0

  constructor({ maxUnsentBytes, maxOpenStreams }: UnsentLimits, isTrusted: (address: string) => boolean) {
    this.#maxBytes = maxUnsentBytes
    this.#maxStreams = maxOpenStreams
    this.#isTrusted = isTrusted
  }

  get totalBytes(): number {
    return this.#totalBytes
  }

  /** `evict` is to end the connection soon, not at once: it may be called in the midst of whatever it does. */
  open(address: string, evict: () => void): Account {
    const isTrusted = this.#isTrusted(address)
    const key = isTrusted ? '' : networkOf(address)
    const share = this.#shares.get(key) ?? { bytes: 0, streams: 0, accounts: new Set(), isTrusted }
    const owner: Owner = { bytes: 0, streams: 0, isEvicted: false, evict }
    this.#shares.set(key, share)
    share.accounts.add(owner)
    const move = (bytes: number) => {
      const change = bytes - owner.bytes
      owner.bytes = bytes
      share.bytes += change
      this.#totalBytes += change
      return change
    }
    const count = (streams: number) => {
      share.streams += streams - owner.streams
      this.#totalStreams += streams - owner.streams
      owner.streams = streams
    }
    const roomOf = () => this.#roomFor(share)
    const streamsFor = () => this.#streamsFor(share)
    return {
      get isCrowded() {
        return share.bytes * 2 > roomOf() || share.streams > streamsFor()
      },
      set: (bytes, streams) => {
        if (streams !== owner.streams) count(streams)
        if (bytes !== owner.bytes && move(bytes) > 0 && share.bytes > roomOf()) this.#makeRoom(share, owner)
      },
      close: () => {
        move(0)
        count(0)
        share.accounts.delete(owner)
        if (share.accounts.size === 0) this.#shares.delete(key)
      },
    }
  }

  #makeRoom(share: Share, owner: Owner): void {
    const largest = mostOf(this.#shares.values(), ({ isTrusted }) => !isTrusted)
    const isOther = largest !== undefined && largest !== share && largest.bytes > 2 * share.bytes
    const victim = isOther ? mostOf(largest.accounts, ({ isEvicted }) => !isEvicted) : owner
    if (victim === undefined) return
    victim.isEvicted = true
    victim.evict()
  }

  #streamsFor({ isTrusted }: Share): number {
    const left = Math.max(0, this.#maxStreams - this.#totalStreams)
    return isTrusted ? left : left / 2
  }

  #roomFor({ isTrusted }: Share): number {
    const left = Math.max(0, this.#maxBytes - this.#totalBytes)
    return isTrusted ? left : left / 2
  }
}

function mostOf<T extends { bytes: number }>(all: Iterable<T>, isMeant: (one: T) => boolean): T | undefined {
  let most: T | undefined
  for (const one of all) if (isMeant(one) && one.bytes > (most?.bytes ?? -1)) most = one
  return most
}
