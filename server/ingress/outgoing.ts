/** The part of a Bun socket that writing needs. */
export interface WritableSocket {
  write(bytes: Buffer): number
  shutdown(): void
}

/** From here on whoever produces the bytes is to pause until the queue is empty. */
const HIGH_WATER_BYTES = 128 * 1024
/** Pieces up to this size in sum are joined into one write; larger ones are not worth copying. */
const JOINED_BYTES = 64 * 1024

/**
 * What is on its way out of a socket. Bun buffers nothing: a write takes what the kernel takes, and the rest waits here for `drain`.
 * Bounded by the producers, which look at `isFull` after each write.
 */
export class Outgoing {
  readonly #socket: WritableSocket
  #queue: Buffer[] = []
  #queuedBytes = 0
  #isHeld = false
  #isEnding = false
  #isClosed = false

  constructor(socket: WritableSocket) {
    this.#socket = socket
  }

  get isEmpty(): boolean {
    return this.#queuedBytes === 0
  }

  get isFull(): boolean {
    return this.#queuedBytes >= HIGH_WATER_BYTES
  }

  write(bytes: Buffer): void {
    if (bytes.length === 0 || this.#isClosed) return
    this.#queue.push(bytes)
    this.#queuedBytes += bytes.length
    if (!this.#isHeld && this.#queue.length === 1) this.flush()
  }

  /** Runs `produce` and sends what it writes together: a head and the start of its body make one packet. */
  together(produce: () => void): void {
    if (this.#isHeld) {
      produce()
      return
    }
    this.#isHeld = true
    try {
      produce()
    } finally {
      this.#isHeld = false
      this.flush()
    }
  }

  /** Sends what the kernel takes; to be called on `drain`. */
  flush(): void {
    if (this.#isHeld) return
    this.#join()
    let bytes = this.#queue[0]
    while (bytes !== undefined) {
      const written = this.#socket.write(bytes)
      if (written < 0) {
        this.#drop()
        return
      }
      this.#queuedBytes -= written
      if (written < bytes.length) {
        this.#queue[0] = bytes.subarray(written)
        return
      }
      this.#queue.shift()
      bytes = this.#queue[0]
    }
    if (this.#isEnding) this.#socket.shutdown()
  }

  /** Closes our side once everything is sent. Nothing may be written after that. */
  end(): void {
    this.#isEnding = true
    if (this.isEmpty && !this.#isHeld) this.#socket.shutdown()
  }

  #join(): void {
    if (this.#queue.length > 1 && this.#queuedBytes <= JOINED_BYTES) this.#queue = [Buffer.concat(this.#queue)]
  }

  #drop(): void {
    this.#isClosed = true
    this.#queue = []
    this.#queuedBytes = 0
  }
}
