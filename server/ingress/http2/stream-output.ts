import type { Field } from '../message/field-lines.ts'
import { ByteQueue } from './byte-queue.ts'
import type { DataSender } from './data-sender.ts'
import { DEFAULT_MAX_FRAME_BYTES } from './frame.ts'
import type { HpackEncoder } from './hpack-encoder.ts'
import { encodeTrailers } from './response-block.ts'

/** From here on whoever answers is to pause until the queue is empty. */
const HIGH_WATER_BYTES = 64 * 1024
/** The most of a body that is fetched at a time as it goes out. */
const OFFER_BYTES = 256 * 1024
/** A peer that opens its windows by less than this at a time makes work out of nothing. */
const SMALL_FRAME_BYTES = 1024
/** A window that is opened byte by byte is no progress: this much must go out in the time that a client may keep us waiting. */
const MIN_PROGRESS_BYTES = 16 * 1024

/** Who is told how the output goes on. */
export interface OutputOwner {
  /** What was full is empty. */
  outputDrained(): void
  /** The last frame has been handed over. */
  outputEnded(): void
  /** A DATA frame has been handed over; `isStingy` when the peer's window made it very small. */
  dataSent(isStingy: boolean): void
}

export interface OutputParts {
  sender: DataSender
  /** Milliseconds, monotonic. */
  clock: { readonly now: number }
  owner: OutputOwner
}

/** What one stream sends: what does not fit into the peer's windows waits here, and the stream's end behind it. */
export class StreamOutput {
  readonly #id: number
  readonly #sender: DataSender
  readonly #owner: OutputOwner
  readonly #clock: OutputParts['clock']
  #windowBytes: number
  #queue: ByteQueue | undefined
  #isFull = false
  #isEnding = false
  #isEnded = false
  /** Whether the answerer waits to be asked for what it has. */
  #isPulling = false
  #hadTurn = false
  #trailers: readonly Field[] = []
  /** What the answer's length says is still to come. */
  #owedBytes = Number.POSITIVE_INFINITY
  #progressAt: number
  /** Sent since then. */
  #progressBytes = 0

  constructor(id: number, { sender, clock, owner }: OutputParts) {
    this.#id = id
    this.#sender = sender
    this.#owner = owner
    this.#clock = clock
    this.#progressAt = clock.now
    this.#windowBytes = sender.initialWindowBytes
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

  /** What the peer takes of this stream; below zero when it has changed its mind. */
  get windowBytes(): number {
    return this.#windowBytes
  }

  /** Whether `sendFrame` would bring something forward. */
  get isReady(): boolean {
    return this.isWaiting && this.#windowBytes > 0
  }

  /** Since when the client has taken less than it must. */
  get progressAt(): number {
    return this.#progressAt
  }

  /** The client's time to take what is written begins anew. */
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

  /** Takes a part of `bytes`, which must not change any more; the stream ends with the last of the body. */
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

  /**
   * How much a body that can be had again may fetch now; where that is nothing, `outputDrained` tells when to ask again. Nobody gets a
   * second turn before those who wait have had theirs.
   */
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

  /** There is room again for what was held back. */
  goOn(): void {
    if (!this.#isFull) this.#owner.outputDrained()
  }

  /** The stream ends behind what was written. */
  end(trailers: readonly Field[]): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#trailers = trailers
    if (this.#waitingBytes === 0) this.#sendEnd()
  }

  /** Sends one frame of what waits, as large as the windows allow. */
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

  /** The peer takes more of this stream, or less. */
  grow(bytes: number): void {
    this.#windowBytes += bytes
    if (this.isReady) this.#sender.join(this)
  }

  /** Nothing more is to be sent. */
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
