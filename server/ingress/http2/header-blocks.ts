import { Flag, type Frame, FrameType } from './frame.ts'
import { ConnectionError, ErrorCode } from './http2-error.ts'

/** Continuations of one block: a head of the largest size fits into far fewer frames (CVE-2024-27316). */
const MAX_CONTINUATIONS = 16

export interface HeaderBlock {
  streamId: number
  isLast: boolean
  isOfItself: boolean
  bytes: Buffer
  from: number
  to: number
}

/** Puts the field blocks together that came in several frames. While one is incomplete nothing else may come (RFC 9113 section 6.10). */
export class HeaderBlocks {
  readonly #maxBytes: number
  #begun: HeaderBlock | undefined
  #parts: Buffer[] = []
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get isInside(): boolean {
    return this.#begun !== undefined
  }

  expect({ type, streamId }: Frame): void {
    if (this.#begun === undefined) {
      if (type === FrameType.continuation) throw new ConnectionError(ErrorCode.protocolError, 'CONTINUATION continues nothing')
    } else if (type !== FrameType.continuation || streamId !== this.#begun.streamId) {
      throw new ConnectionError(ErrorCode.protocolError, 'a field block was interrupted')
    }
  }

  begin({ flags, streamId, bytes, from, to }: Frame, isOfItself: boolean): HeaderBlock | undefined {
    const block = { streamId, isLast: (flags & Flag.endStream) !== 0, isOfItself, bytes, from, to }
    if ((flags & Flag.endHeaders) !== 0) return block
    this.#begun = block
    this.#keep(bytes, from, to)
    return undefined
  }

  goOn({ flags, bytes, from, to }: Frame): HeaderBlock | undefined {
    const begun = this.#begun
    this.#keep(bytes, from, to)
    if (begun === undefined || (flags & Flag.endHeaders) === 0) return undefined
    const whole = Buffer.concat(this.#parts)
    this.#begun = undefined
    this.#parts = []
    this.#bytes = 0
    return { ...begun, bytes: whole, from: 0, to: whole.length }
  }

  #keep(bytes: Buffer, from: number, to: number): void {
    this.#bytes += to - from
    if (this.#bytes > this.#maxBytes || this.#parts.length > MAX_CONTINUATIONS) {
      throw new ConnectionError(ErrorCode.enhanceYourCalm, 'a field block is too long to be followed')
    }
    // A copy: what was received with it must not be kept as long.
    this.#parts.push(Buffer.from(bytes.subarray(from, to)))
  }
}
