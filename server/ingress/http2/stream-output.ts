import type { Field } from '../message/field-lines.ts'
import { ByteQueue } from './byte-queue.ts'
import type { DataSender } from './data-sender.ts'
import { DEFAULT_MAX_FRAME_BYTES } from './frame.ts'
import { encodeTrailers } from './response-block.ts'

/** From here on whoever answers is to pause until the queue is empty. */
const HIGH_WATER_BYTES = 64 * 1024
/** The most of a body that is fetched at a time as it goes out. */
const OFFER_BYTES = 256 * 1024
/** A peer that opens its windows by less than this at a time makes work out of nothing. */
const SMALL_FRAME_BYTES = 1024

/** Who is told how the output goes on. */
export interface OutputOwner {
  /** What was full is empty. */
  outputDrained(): void
  /** The last frame has been handed over. */
  outputEnded(): void
  /** A DATA frame with so many bytes has been handed over; `isStingy` when the peer's window made it very small. */
  dataSent(count: number, isStingy: boolean): void
}

/** The data one stream sends: what does not fit into the peer's windows waits here, and the stream's end behind it. */
export class StreamOutput {
  readonly #id: number
  readonly #sender: DataSender
  readonly #owner: OutputOwner
  #windowBytes: number
  #queue: ByteQueue | undefined
  #isFull = false
  #isEnding = false
  #isEnded = false
  /** Whether the answerer waits to be asked for what it has. */
  #isPulling = false
  #hadTurn = false
  #trailers: readonly Field[] = []

  constructor(id: number, sender: DataSender, owner: OutputOwner) {
    this.#id = id
    this.#sender = sender
    this.#owner = owner
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

  get #waitingBytes(): number {
    return this.#queue?.length ?? 0
  }

  /** Takes a part of `bytes`, which must not change any more; with `isLast` the stream ends with it. */
  write(bytes: Buffer, { from, to }: { from: number; to: number }, isLast: boolean): void {
    const count = to - from
    if (isLast) this.#isEnding = true
    if (count === 0 && !isLast) return
    if (this.#waitingBytes === 0 && count <= DEFAULT_MAX_FRAME_BYTES && count <= this.#windowBytes && this.#sender.takes(count)) {
      const { room, at } = this.#begin(count, isLast)
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

  /** Sends what the windows and the socket take at once, and returns how much that was; with `isLast` the stream ends with all of it. */
  offer(bytes: Buffer, { from, to }: { from: number; to: number }, isLast: boolean): number {
    this.#hadTurn = true
    for (let at = from; at < to; ) {
      const count = Math.min(to - at, this.#windowBytes, this.#sender.roomBytes, DEFAULT_MAX_FRAME_BYTES)
      if (count <= 0 || this.#waitingBytes > 0) return at - from
      const isAll = at + count === to
      if (isAll && isLast) this.#isEnding = true
      const { room, at: roomAt } = this.#begin(count, isAll && isLast)
      bytes.copy(room, roomAt, at, at + count)
      at += count
      this.#sent(count, !isAll && count < SMALL_FRAME_BYTES)
    }
    return to - from
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

  /** The stream has ended with its head. */
  endedWithHead(): void {
    this.#isEnding = true
    this.#isEnded = true
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
    const { room, at } = this.#begin(count, isAll && this.#isEnding && this.#trailers.length === 0)
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

  #begin(count: number, isLast: boolean): { room: Buffer; at: number } {
    this.#windowBytes -= count
    this.#sender.windowBytes -= count
    if (isLast) this.#isEnded = true
    return this.#sender.writer.data(this.#id, count, isLast)
  }

  #sent(count: number, isStingy = false): void {
    this.#owner.dataSent(count, isStingy)
    if (this.#isEnded) this.#owner.outputEnded()
  }

  #sendEnd(): void {
    this.#isEnded = true
    if (this.#trailers.length > 0) this.#sender.writer.headers(this.#id, encodeTrailers(this.#trailers), true)
    else this.#sender.writer.data(this.#id, 0, true)
    this.#owner.outputEnded()
  }
}
