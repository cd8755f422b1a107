import type { FrameWriter } from './frame-writer.ts'
import type { Outbox } from './outbox.ts'
import type { StreamOutput } from './stream-output.ts'

/** Of streams and the connection until the peer says otherwise (RFC 9113 section 6.9.2). */
export const DEFAULT_WINDOW_BYTES = 65_535

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

  /** `onWaiting` is called when a stream has something for the next `pump`. */
  constructor(outbox: Outbox, writer: FrameWriter, onWaiting: () => void) {
    this.#outbox = outbox
    this.writer = writer
    this.#onWaiting = onWaiting
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
  }

  /** Sends what may be sent: each stream a frame, and the first one again behind the last. */
  pump(): void {
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
