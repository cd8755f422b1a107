import type { FrameWriter } from './frame-writer.ts'
import type { Outbox } from './outbox.ts'
import type { StreamOutput } from './stream-output.ts'

/** Of streams and the connection until the peer says otherwise (RFC 9113 section 6.9.2). */
export const DEFAULT_WINDOW_BYTES = 65_535

/** Bytes that wait for a client, in its streams and in frames, from which on whoever answers on any of its streams is to pause. */
const HIGH_WATER_BYTES = 1024 * 1024

/** Lets the streams of a connection send their data in turns, one frame each, as far as the peer's window for all of them allows. */
export class DataSender {
  readonly writer: FrameWriter
  readonly #outbox: Outbox
  readonly #onWaiting: () => void
  /** What the peer takes of all streams together. */
  windowBytes = DEFAULT_WINDOW_BYTES
  /** What a new stream may send. */
  initialWindowBytes = DEFAULT_WINDOW_BYTES
  readonly #waiting = new Set<StreamOutput>()
  /** Those that were told to make their answerers wait until there is less. */
  readonly #heldBack = new Set<StreamOutput>()
  #queuedBytes = 0

  /** `onWaiting` is called when a stream has something for the next `pump`. */
  constructor(outbox: Outbox, writer: FrameWriter, onWaiting: () => void) {
    this.#outbox = outbox
    this.writer = writer
    this.#onWaiting = onWaiting
  }

  /** In streams and in frames. */
  get waitingBytes(): number {
    return this.#queuedBytes + this.#outbox.waitingBytes
  }

  /** How much may go out right now. */
  get roomBytes(): number {
    return this.#outbox.isStuck ? 0 : this.windowBytes
  }

  /** Whether another stream waits for its turn. */
  get isContended(): boolean {
    return this.#waiting.size > 0
  }

  /** A stream has queued so much more, or less. */
  queued(bytes: number): void {
    this.#queuedBytes += bytes
    if (bytes > 0) this.#onWaiting()
  }

  /** Whether the stream is to make its answerer wait, in which case it will be told when that is over. */
  holdsBack(output: StreamOutput): boolean {
    if (this.waitingBytes < HIGH_WATER_BYTES) return false
    this.#heldBack.add(output)
    return true
  }

  /** Whether so much may go out right now. */
  takes(count: number): boolean {
    return count <= this.windowBytes && !this.#outbox.isStuck
  }

  /** The stream has data that it may send by its own window. */
  join(output: StreamOutput): void {
    this.#waiting.add(output)
    this.#onWaiting()
  }

  leave(output: StreamOutput): void {
    this.#waiting.delete(output)
    this.#heldBack.delete(output)
    if (this.#heldBack.size > 0) this.#onWaiting()
  }

  /** Sends what may be sent: each stream a frame, and the first one again behind the last. */
  pump(): void {
    this.#sendInTurns()
    if (this.#heldBack.size === 0 || this.waitingBytes >= HIGH_WATER_BYTES) return
    const outputs = [...this.#heldBack]
    this.#heldBack.clear()
    for (const output of outputs) output.goOn()
  }

  #sendInTurns(): void {
    while (this.windowBytes > 0 && !this.#outbox.isStuck) {
      const [next] = this.#waiting
      if (next === undefined) return
      this.#waiting.delete(next)
      // A window that was opened can be closed again.
      if (next.isReady) next.sendFrame()
      if (next.isReady) this.#waiting.add(next)
    }
  }
}
