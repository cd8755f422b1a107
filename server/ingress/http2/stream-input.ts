import type { Framing } from '../message/framing.ts'
import { ByteQueue } from './byte-queue.ts'
import { malformed } from './field-reading.ts'
import { ErrorCode, StreamError } from './http2-error.ts'
import { ReceiveWindow } from './receive-window.ts'

const NOTHING = Buffer.alloc(0)
const CRLF = '\r\n'
const LAST_CHUNK = '0\r\n'

export class StreamInput {
  readonly #windowBytes: number
  #queue: ByteQueue | undefined
  #window: ReceiveWindow | undefined
  #isChunked = false
  #owedBytes = Number.POSITIVE_INFINITY
  #trailers = ''
  #isEnded = false

  constructor(windowBytes: number) {
    this.#windowBytes = windowBytes
  }

  static ended(): StreamInput {
    const input = new StreamInput(0)
    input.#isEnded = true
    return input
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  expect(framing: Framing, isTunnel: boolean): void {
    this.#isChunked = framing.kind === 'chunked'
    if (framing.kind === 'length') this.#owedBytes = framing.bytes
    else if (framing.kind === 'none' && !isTunnel) this.#owedBytes = 0
  }

  get waitingBytes(): number {
    return this.#queue?.length ?? 0
  }

  push(bytes: Buffer, { from, to }: { from: number; to: number }, frameBytes: number): void {
    this.#window ??= new ReceiveWindow(this.#windowBytes)
    if (!this.#window.take(frameBytes)) throw new StreamError(ErrorCode.flowControlError, 'more data was sent than allowed')
    this.#owedBytes -= to - from
    if (this.#owedBytes < 0) throw malformed('the body is longer than content-length says')
    this.#queue ??= new ByteQueue()
    this.#queue.push(bytes, from, to)
  }

  end(trailers: string): void {
    if (this.#owedBytes > 0 && this.#owedBytes !== Number.POSITIVE_INFINITY) throw malformed('the body is shorter than content-length says')
    this.#isEnded = true
    this.#trailers = trailers
  }

  takeAll(): Buffer {
    const data = this.#queue?.takeAll() ?? NOTHING
    if (!this.#isChunked) return data
    const size = data.length > 0 ? data.length.toString(16) + CRLF : ''
    const tail = (data.length > 0 ? CRLF : '') + (this.isEnded ? LAST_CHUNK + this.#trailers + CRLF : '')
    const framed = Buffer.allocUnsafe(size.length + data.length + tail.length)
    framed.write(size, 0, 'latin1')
    data.copy(framed, size.length)
    framed.write(tail, size.length + data.length, 'latin1')
    return framed
  }

  own(): void {
    this.#queue?.own()
  }

  clear(): number {
    const count = this.waitingBytes
    this.#queue?.clear()
    return count
  }

  giveBack(bytes: number): number {
    return this.isEnded || this.#window === undefined ? 0 : this.#window.giveBack(bytes)
  }
}
