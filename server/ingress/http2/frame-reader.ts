import { FRAME_HEADER_BYTES, type Frame, readUint31 } from './frame.ts'
import { checkFrame } from './frame-rules.ts'
import { ConnectionError, ErrorCode } from './http2-error.ts'

const NOTHING = Buffer.alloc(0)

/**
 * Cuts received bytes into frames without copying them, except for a frame that came in pieces, which is put together once.
 * What a frame says is checked by itself alone: its size and whether it belongs to a stream.
 */
export class FrameReader {
  readonly #maxFrameBytes: number
  #bytes: Buffer = NOTHING
  #from = 0
  /** The frame, or the header of one, that is being put together; its own buffer, as its payload may be kept. */
  #partial: Buffer = NOTHING
  #partialBytes = 0
  readonly #frame: Frame = { type: 0, flags: 0, streamId: 0, bytes: NOTHING, from: 0, to: 0 }

  constructor(maxFrameBytes: number) {
    this.#maxFrameBytes = maxFrameBytes
  }

  get isInsideFrame(): boolean {
    return this.#partialBytes > 0
  }

  get partialType(): number | undefined {
    return this.#partialBytes >= FRAME_HEADER_BYTES ? this.#partial[3] : undefined
  }

  /** Takes more bytes. Those of the push before must have been read up by then: `next` has returned undefined. */
  push(bytes: Buffer): void {
    this.#bytes = bytes
    this.#from = 0
  }

  /** The next frame, or undefined when more bytes are needed. The object is filled anew each time; the bytes it shows stay as they are. */
  next(): Frame | undefined {
    if (this.#partialBytes > 0) return this.#nextOfPartial()
    const left = this.#bytes.length - this.#from
    const wanted = left < FRAME_HEADER_BYTES ? FRAME_HEADER_BYTES : FRAME_HEADER_BYTES + this.#payloadBytes(this.#bytes, this.#from)
    if (left < wanted) {
      this.#keep(wanted)
      return undefined
    }
    const frame = this.#fill(this.#bytes, this.#from, wanted)
    this.#from += wanted
    return frame
  }

  #nextOfPartial(): Frame | undefined {
    if (!this.#complete(FRAME_HEADER_BYTES)) return undefined
    const wanted = FRAME_HEADER_BYTES + this.#payloadBytes(this.#partial, 0)
    if (!this.#complete(wanted)) return undefined
    const partial = this.#partial
    this.#partial = NOTHING
    this.#partialBytes = 0
    return this.#fill(partial, 0, wanted)
  }

  #complete(wanted: number): boolean {
    if (this.#partial.length < wanted) this.#partial = grown(this.#partial, this.#partialBytes, wanted)
    const count = Math.min(wanted - this.#partialBytes, this.#bytes.length - this.#from)
    if (count > 0) {
      this.#bytes.copy(this.#partial, this.#partialBytes, this.#from, this.#from + count)
      this.#partialBytes += count
      this.#from += count
    }
    if (this.#partialBytes >= wanted) return true
    this.#bytes = NOTHING
    this.#from = 0
    return false
  }

  #keep(wanted: number): void {
    const left = this.#bytes.length - this.#from
    if (left > 0) {
      this.#partial = Buffer.allocUnsafe(wanted)
      this.#bytes.copy(this.#partial, 0, this.#from)
      this.#partialBytes = left
    }
    this.#bytes = NOTHING
    this.#from = 0
  }

  #payloadBytes(bytes: Buffer, at: number): number {
    const length = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
    if (length > this.#maxFrameBytes)
      throw new ConnectionError(ErrorCode.frameSizeError, `a frame is larger than ${this.#maxFrameBytes} bytes`)
    return length
  }

  #fill(bytes: Buffer, at: number, count: number): Frame {
    const frame = this.#frame
    frame.type = bytes[at + 3] ?? 0
    frame.flags = bytes[at + 4] ?? 0
    frame.streamId = readUint31(bytes, at + 5)
    frame.bytes = bytes
    frame.from = at + FRAME_HEADER_BYTES
    frame.to = at + count
    checkFrame(frame)
    return frame
  }
}

function grown(bytes: Buffer, used: number, lengthBytes: number): Buffer {
  const larger = Buffer.allocUnsafe(lengthBytes)
  bytes.copy(larger, 0, 0, used)
  return larger
}
