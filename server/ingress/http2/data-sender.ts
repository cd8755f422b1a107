import type { FrameWriter } from './frame-writer.ts'
import type { Outbox } from './outbox.ts'
import type { StreamOutput } from './stream-output.ts'

export const DEFAULT_WINDOW_BYTES = 65_535

const HIGH_WATER_BYTES = 1024 * 1024

/** Lets the streams of a connection send their data in turns, one frame each, as far as the peer's window for all of them allows. */
export class DataSender {
  readonly writer: FrameWriter
  readonly #outbox: Outbox
  readonly #onWaiting: () => void
  windowBytes = DEFAULT_WINDOW_BYTES
  initialWindowBytes = DEFAULT_WINDOW_BYTES
  readonly #waiting = new Set<StreamOutput>()
  readonly #heldBack = new Set<StreamOutput>()
  #queuedBytes = 0

  constructor(outbox: Outbox, writer: FrameWriter, onWaiting: () => void) {
    this.#outbox = outbox
    this.writer = writer
    this.#onWaiting = onWaiting
  }

  get waitingBytes(): number {
    return this.#queuedBytes + this.#outbox.waitingBytes
  }

  get roomBytes(): number {
    return this.#outbox.isStuck ? 0 : this.windowBytes
  }

  get isContended(): boolean {
    return this.#waiting.size > 0
  }

  queued(bytes: number): void {
    this.#queuedBytes += bytes
    if (bytes > 0) this.#onWaiting()
  }

  holdsBack(output: StreamOutput): boolean {
    if (this.waitingBytes < HIGH_WATER_BYTES) return false
    this.#heldBack.add(output)
    return true
  }

  takes(count: number): boolean {
    return count <= this.windowBytes && !this.#outbox.isStuck
  }

  join(output: StreamOutput): void {
    this.#waiting.add(output)
    this.#onWaiting()
  }

  leave(output: StreamOutput): void {
    this.#waiting.delete(output)
    this.#heldBack.delete(output)
    if (this.#heldBack.size > 0) this.#onWaiting()
  }

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
