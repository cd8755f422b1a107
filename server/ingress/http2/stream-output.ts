import type { Field } from '../message/field-lines.ts'
import { ByteQueue } from './byte-queue.ts'
import type { DataSender } from './data-sender.ts'
import { DEFAULT_MAX_FRAME_BYTES } from './frame.ts'
import type { HpackEncoder } from './hpack-encoder.ts'
import { encodeTrailers } from './response-block.ts'

const HIGH_WATER_BYTES = 64 * 1024
const OFFER_BYTES = 256 * 1024
const SMALL_FRAME_BYTES = 1024
/** A window that is opened byte by byte is no progress: this much must go out in the time that a client may keep us waiting. */
const MIN_PROGRESS_BYTES = 16 * 1024

export interface OutputOwner {
  outputDrained(): void
  outputEnded(): void
  dataSent(isStingy: boolean): void
}

/** What the output needs of the connection. */
export interface OutputHost {
  readonly sender: DataSender
  readonly context: { readonly deadlines: { readonly now: number } }
}

export class StreamOutput {
  readonly #id: number
  readonly #sender: DataSender
  readonly #owner: OutputOwner
  readonly #clock: OutputHost['context']['deadlines']
  #windowBytes: number
  #queue: ByteQueue | undefined
  #isFull = false
  #isEnding = false
  #isEnded = false
  #isPulling = false
  #hadTurn = false
  #trailers: readonly Field[] = []
  #owedBytes = Number.POSITIVE_INFINITY
  #progressAt: number
  #progressBytes = 0

  constructor(id: number, host: OutputHost, owner: OutputOwner) {
    this.#id = id
    this.#sender = host.sender
    this.#owner = owner
    this.#clock = host.context.deadlines
    this.#progressAt = this.#clock.now
    this.#windowBytes = host.sender.initialWindowBytes
  }

  get isFull(): boolean {
    return this.#isFull || this.#sender.holdsBack(this)
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  get isWaiting(): boolean {
    return this.#waitingBytes > 0 || this.#isPulling
  }

  get windowBytes(): number {
    return this.#windowBytes
  }

  get isReady(): boolean {
    return this.isWaiting && this.#windowBytes > 0
  }

  get progressAt(): number {
    return this.#progressAt
  }

  progressed(): void {
    this.#progressAt = this.#clock.now
    this.#progressBytes = 0
  }

  get #waitingBytes(): number {
    return this.#queue?.length ?? 0
  }

  /** Sends the head of an answer whose body has `bodyBytes`: infinitely many where that is not known, and 0 where there is none. */
  begin(head: HpackEncoder, bodyBytes: number): void {
    this.#owedBytes = bodyBytes
    this.progressed()
    this.#sender.writer.headers(this.#id, head, bodyBytes === 0)
    if (bodyBytes > 0) return
    this.#isEnding = true
    this.#isEnded = true
  }

  write(bytes: Buffer, from: number, to: number): void {
    const count = to - from
    this.#owedBytes -= count
    if (!this.isWaiting) this.progressed()
    if (this.#isEnded) return
    const isLast = this.#owedBytes <= 0
    if (isLast) this.#isEnding = true
    if (count === 0 && !isLast) return
    if (this.#waitingBytes === 0 && count <= DEFAULT_MAX_FRAME_BYTES && count <= this.#windowBytes && this.#sender.takes(count)) {
      const { room, at } = this.#frame(count, isLast)
      bytes.copy(room, at, from, to)
      this.#sent(count)
      return
    }
    this.#queue ??= new ByteQueue()
    this.#queue.push(bytes, from, to)
    this.#sender.queued(count)
    if (this.#queue.length >= HIGH_WATER_BYTES) this.#isFull = true
    if (this.isReady) this.#sender.join(this)
  }

  /** Bytes a body may fetch now; where that is 0, `outputDrained` tells when to ask again. Streams that wait go first. */
  askRoom(): number {
    const room = this.#hadTurn && this.#sender.isContended ? 0 : Math.min(this.#windowBytes, this.#sender.roomBytes, OFFER_BYTES)
    this.#hadTurn = false
    if (room > 0 && this.#waitingBytes === 0) return room
    this.#isPulling = true
    if (this.isReady) this.#sender.join(this)
    return 0
  }

  /** Sends what the windows and the socket take at once, and returns how much that was; the stream ends with the last of the body. */
  offer(bytes: Buffer, from: number, to: number): number {
    const isLast = this.#owedBytes <= to - from
    const count = this.#sendNow(bytes, { from, to }, isLast)
    this.#owedBytes -= count
    return count
  }

  goOn(): void {
    if (!this.#isFull) this.#owner.outputDrained()
  }

  end(trailers: readonly Field[]): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#trailers = trailers
    if (this.#waitingBytes === 0) this.#sendEnd()
  }

  sendFrame(): void {
    if (this.#isPulling) {
      this.#isPulling = false
      this.#owner.outputDrained()
      return
    }
    const queue = this.#queue
    if (queue === undefined) return
    const count = Math.min(queue.length, this.#windowBytes, this.#sender.windowBytes, DEFAULT_MAX_FRAME_BYTES)
    const isAll = count === queue.length
    const { room, at } = this.#frame(count, isAll && this.#isEnding && this.#trailers.length === 0)
    queue.moveTo(room, at, count)
    this.#sender.queued(-count)
    if (isAll && this.#isFull) {
      this.#isFull = false
      this.#owner.outputDrained()
    }
    this.#sent(count, !isAll && count < SMALL_FRAME_BYTES)
    if (isAll && this.#isEnding && !this.#isEnded) this.#sendEnd()
  }

  grow(bytes: number): void {
    this.#windowBytes += bytes
    if (this.isReady) this.#sender.join(this)
  }

  drop(): void {
    this.#sender.queued(-this.#waitingBytes)
    this.#queue?.clear()
    this.#isPulling = false
    this.#sender.leave(this)
  }

  #sendNow(bytes: Buffer, { from, to }: { from: number; to: number }, isLast: boolean): number {
    this.#hadTurn = true
    for (let at = from; at < to; ) {
      const count = Math.min(to - at, this.#windowBytes, this.#sender.roomBytes, DEFAULT_MAX_FRAME_BYTES)
      if (count <= 0 || this.#waitingBytes > 0) return at - from
      const isAll = at + count === to
      if (isAll && isLast) this.#isEnding = true
      const { room, at: roomAt } = this.#frame(count, isAll && isLast)
      bytes.copy(room, roomAt, at, at + count)
      at += count
      this.#sent(count, !isAll && count < SMALL_FRAME_BYTES)
    }
    return to - from
  }

  #frame(count: number, isLast: boolean): { room: Buffer; at: number } {
    this.#windowBytes -= count
    this.#sender.windowBytes -= count
    if (isLast) this.#isEnded = true
    return this.#sender.writer.data(this.#id, count, isLast)
  }

  #sent(count: number, isStingy = false): void {
    this.#progressBytes += count
    if (this.#progressBytes >= MIN_PROGRESS_BYTES) this.progressed()
    this.#owner.dataSent(isStingy)
    if (this.#isEnded) this.#owner.outputEnded()
  }

  #sendEnd(): void {
    this.#isEnded = true
    if (this.#trailers.length > 0) this.#sender.writer.headers(this.#id, encodeTrailers(this.#trailers), true)
    else this.#sender.writer.data(this.#id, 0, true)
    this.#owner.outputEnded()
  }
}
