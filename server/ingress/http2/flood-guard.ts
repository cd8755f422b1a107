import { ConnectionError, ErrorCode } from './http2-error.ts'

/** How much of something is borne: so much at once, and so much each second after that. */
interface Allowance {
  burst: number
  perSecond: number
}

/** Streams that a client begins and breaks off, or makes us break off (CVE-2023-44487, CVE-2025-8671). */
const BROKEN_STREAMS: Allowance = { burst: 300, perSecond: 30 }
/** Frames that make us do something and bring nothing forward (CVE-2019-9511 to 9518). */
const IDLE_FRAMES: Allowance = { burst: 1000, perSecond: 50 }
/** A useful frame may come with so many of them: both windows opened, twice. */
const IDLE_FRAMES_PER_USEFUL = 4
const MS_PER_SECOND = 1000

/** Ends a connection whose client makes work out of nothing. Times are milliseconds. */
export class FloodGuard {
  readonly #clock: { readonly now: number }
  readonly #brokenStreams: Bucket
  readonly #idleFrames: Bucket

  constructor(clock: { readonly now: number }) {
    this.#clock = clock
    this.#brokenStreams = new Bucket(BROKEN_STREAMS, clock.now)
    this.#idleFrames = new Bucket(IDLE_FRAMES, clock.now)
  }

  usefulFrame(): void {
    this.#idleFrames.earn(IDLE_FRAMES_PER_USEFUL)
  }

  /** Throws ConnectionError when there are too many. */
  idleFrame(): void {
    if (!this.#idleFrames.bears(this.#clock.now)) throw new ConnectionError(ErrorCode.enhanceYourCalm, 'too many frames of no use')
  }

  /** Throws ConnectionError when there are too many. */
  brokenStream(): void {
    if (!this.#brokenStreams.bears(this.#clock.now)) throw new ConnectionError(ErrorCode.enhanceYourCalm, 'too many broken streams')
  }
}

class Bucket {
  readonly #allowance: Allowance
  #left: number
  #refilledAt: number

  constructor(allowance: Allowance, now: number) {
    this.#allowance = allowance
    this.#left = allowance.burst
    this.#refilledAt = now
  }

  bears(now: number): boolean {
    if (--this.#left >= 0) return true
    const { burst, perSecond } = this.#allowance
    this.#left = Math.min(burst, this.#left + ((now - this.#refilledAt) / MS_PER_SECOND) * perSecond)
    this.#refilledAt = now
    return this.#left >= 0
  }

  earn(count: number): void {
    this.#left = Math.min(this.#allowance.burst, this.#left + count)
  }
}
