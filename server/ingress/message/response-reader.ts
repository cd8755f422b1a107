import { type BodyPart, type BodyTracker, type PayloadSink, takePart, trackBody } from './body.ts'
import { ByteFeed } from './byte-feed.ts'
import { parseResponseHead, type ResponseHead } from './response-head.ts'

/** `interim` is a 1xx before the answer; `switch` a 101, after which the rest of the connection is no longer HTTP. */
export type ResponseEvent = { kind: 'interim' | 'switch' | 'head'; head: ResponseHead } | BodyPart | { kind: 'end' }

export interface ResponseOptions {
  method: string
  limits: { maxHeadBytes: number; maxFields: number }
  sink?: PayloadSink | undefined
}

const END: ResponseEvent = { kind: 'end' }

export class ResponseReader {
  readonly #feed = new ByteFeed()
  readonly #method: string
  readonly #limits: ResponseOptions['limits']
  readonly #sink: PayloadSink | undefined
  #body: BodyTracker | undefined
  #isUntilClose = false
  #isOver = false
  #hasStarted = false

  constructor(options: ResponseOptions) {
    this.#method = options.method
    this.#limits = options.limits
    this.#sink = options.sink
  }

  get hasStarted(): boolean {
    return this.#hasStarted
  }

  /** Bytes behind the response: an upstream that sends them is not to be trusted with another request. */
  get excessBytes(): number {
    return this.#feed.length
  }

  push(bytes: Buffer): void {
    this.#hasStarted = true
    this.#feed.push(bytes)
  }

  next(): ResponseEvent | undefined {
    if (this.#isOver) return undefined
    return this.#body === undefined ? this.#nextHead() : this.#nextOfBody(this.#body)
  }

  /** Whether the response is whole although the connection ends here: only when its end is what delimits it. */
  isWholeAtEnd(): boolean {
    return this.#isOver || this.#isUntilClose
  }

  takeRest(): Buffer {
    return this.#feed.takeAll()
  }

  #nextHead(): ResponseEvent | undefined {
    if (this.#feed.length === 0) return undefined
    const text = this.#feed.takeHead(this.#limits.maxHeadBytes)
    if (text === undefined) return undefined
    const head = parseResponseHead(text, this.#method, this.#limits.maxFields)
    if (head.status === 101) return { kind: 'switch', head }
    if (head.status < 200) return { kind: 'interim', head }
    this.#body = trackBody(head.framing, this.#sink)
    this.#isUntilClose = head.framing.kind === 'until-close'
    return { kind: 'head', head }
  }

  #nextOfBody(body: BodyTracker): ResponseEvent | undefined {
    if (body.isDone) {
      this.#isOver = true
      return END
    }
    return takePart(body, this.#feed)
  }
}
