import { type BodyPart, type BodyTracker, takePart, trackBody } from './body.ts'
import { ByteFeed } from './byte-feed.ts'
import { type HeadLimits, parseRequestHead, type RequestHead } from './request-head.ts'

export type RequestEvent = { kind: 'head'; head: RequestHead } | BodyPart | { kind: 'end' }

export interface RequestLimits extends HeadLimits {
  maxHeadBytes: number
}

const END: RequestEvent = { kind: 'end' }

/** Reads requests one event at a time, so that the caller decides the pace. A request without a body has no `end` event. */
export class RequestReader {
  readonly #feed = new ByteFeed()
  readonly #limits: RequestLimits
  #body: BodyTracker | undefined

  constructor(limits: RequestLimits) {
    this.#limits = limits
  }

  get bufferedBytes(): number {
    return this.#feed.length
  }

  push(bytes: Buffer): void {
    this.#feed.push(bytes)
  }

  /** The next event, or undefined when more bytes are needed. Throws BadMessage; the connection is of no use after that. */
  next(): RequestEvent | undefined {
    if (this.#body !== undefined) return this.#nextOfBody(this.#body)
    if (this.#feed.length === 0) return undefined
    const text = this.#feed.takeHead(this.#limits.maxHeadBytes)
    if (text === undefined) return undefined
    const head = parseRequestHead(text, this.#limits)
    if (head.framing.kind !== 'none') this.#body = trackBody(head.framing)
    return { kind: 'head', head }
  }

  takeRest(): Buffer {
    return this.#feed.takeAll()
  }

  #nextOfBody(body: BodyTracker): RequestEvent | undefined {
    if (body.isDone) {
      this.#body = undefined
      return END
    }
    return takePart(body, this.#feed)
  }
}
