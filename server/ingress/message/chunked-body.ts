import { BadMessage } from './bad-message.ts'
import type { BodyTracker, PayloadSink } from './body.ts'
import { COLON, CR, isTokenCode, isValueCode, LF } from './characters.ts'
import { isForbiddenTrailer } from './trailer-names.ts'

const MAX_SIZE_DIGITS = 12
const MAX_EXTENSION_BYTES = 256
const MAX_TRAILER_BYTES = 8 * 1024
const SEMICOLON = 59

type State =
  | 'size'
  | 'extension'
  | 'size-line-feed'
  | 'data'
  | 'data-return'
  | 'data-line-feed'
  | 'trailer-start'
  | 'trailer-name'
  | 'trailer-value'
  | 'trailer-line-feed'
  | 'last-line-feed'
  | 'done'

/**
 * Follows the chunked framing of RFC 9112 section 7.1 byte by byte, skipping over data. The bytes are passed on as they are, so it
 * accepts only what cannot be read in two ways: plain hexadecimal sizes, CRLF and nothing else as a line's end.
 */
export class ChunkedBody implements BodyTracker {
  readonly #sink: PayloadSink | undefined
  #state: State = 'size'
  #sizeBytes = 0
  #digits = 0
  #extensionBytes = 0
  #trailerBytes = 0
  #trailers = ''
  #trailerName = ''

  constructor(sink?: PayloadSink) {
    this.#sink = sink
  }

  get isDone(): boolean {
    return this.#state === 'done'
  }

  take(bytes: Buffer, from = 0): number {
    let at = from
    while (at < bytes.length && this.#state !== 'done') {
      if (this.#state === 'data') at = this.#skipData(bytes, at)
      else this.#step(bytes[at++] ?? 0)
    }
    return at - from
  }

  #skipData(bytes: Buffer, from: number): number {
    const to = Math.min(bytes.length, from + this.#sizeBytes)
    this.#sink?.onPayload(bytes.subarray(from, to))
    this.#sizeBytes -= to - from
    if (this.#sizeBytes === 0) this.#state = 'data-return'
    return to
  }

  #step(code: number): void {
    switch (this.#state) {
      case 'size':
        this.#size(code)
        return
      case 'extension':
        this.#extension(code)
        return
      case 'size-line-feed':
        this.#expect(code, LF, this.#afterSizeLine())
        return
      case 'data-return':
        this.#expect(code, CR, 'data-line-feed')
        return
      case 'data-line-feed':
        this.#expect(code, LF, 'size')
        return
      case 'last-line-feed':
        this.#expect(code, LF, 'done')
        if (this.#trailers !== '') this.#sink?.onTrailers(this.#trailers)
        return
      default:
        this.#trailer(code)
        return
    }
  }

  #size(code: number): void {
    const digit = hexDigit(code)
    if (digit >= 0) {
      if (++this.#digits > MAX_SIZE_DIGITS) throw new BadMessage(400, 'a chunk size is too long')
      this.#sizeBytes = this.#sizeBytes * 16 + digit
      return
    }
    if (this.#digits === 0) throw new BadMessage(400, 'a chunk has no size')
    this.#digits = 0
    if (code === SEMICOLON) this.#state = 'extension'
    else this.#expect(code, CR, 'size-line-feed')
  }

  #extension(code: number): void {
    if (code === CR) this.#state = 'size-line-feed'
    else if (isValueCode[code] !== 1) throw new BadMessage(400, 'a chunk extension holds a character that is not allowed')
    else if (++this.#extensionBytes > MAX_EXTENSION_BYTES) throw new BadMessage(400, 'the chunk extensions are too long')
  }

  #afterSizeLine(): State {
    return this.#sizeBytes > 0 ? 'data' : 'trailer-start'
  }

  #trailer(code: number): void {
    if (++this.#trailerBytes > MAX_TRAILER_BYTES) throw new BadMessage(431, 'the trailers are too long')
    const isLast = this.#state === 'trailer-start' && code === CR
    if (this.#sink !== undefined && !isLast) this.#trailers += String.fromCharCode(code)
    switch (this.#state) {
      case 'trailer-start':
        if (isLast) this.#state = 'last-line-feed'
        else this.#nameTrailer(code)
        return
      case 'trailer-name':
        if (code === COLON) this.#endTrailerName()
        else this.#nameTrailer(code)
        return
      case 'trailer-value':
        if (code === CR) this.#state = 'trailer-line-feed'
        else if (isValueCode[code] !== 1) throw new BadMessage(400, 'a trailer holds a character that is not allowed')
        return
      default:
        this.#expect(code, LF, 'trailer-start')
        return
    }
  }

  #nameTrailer(code: number): void {
    if (isTokenCode[code] !== 1) throw new BadMessage(400, 'a trailer has no valid name')
    this.#trailerName += String.fromCharCode(code)
    this.#state = 'trailer-name'
  }

  #endTrailerName(): void {
    if (isForbiddenTrailer(this.#trailerName)) throw new BadMessage(400, 'a trailer has a name that only a head may have')
    this.#trailerName = ''
    this.#state = 'trailer-value'
  }

  #expect(code: number, expected: number, next: State): void {
    if (code !== expected) throw new BadMessage(400, 'the chunked framing is broken')
    this.#state = next
  }
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  const lower = code | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : -1
}
