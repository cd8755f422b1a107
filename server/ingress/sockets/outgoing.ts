export interface WritableSocket {
  write(bytes: Buffer, from: number, count: number): number
  shutdown(): void
}

const HIGH_WATER_BYTES = 128 * 1024
/** A rest that is so many times smaller than what it came with is copied: larger ones cost more than the memory is worth. */
const SMALL_REST = 8
/** A head and what follows it are joined into one write up to this size; more is not worth copying. */
const ROOM_BYTES = 64 * 1024

/**
 * Where heads and the start of their bodies are put together. The kernel copies a room before `write` returns, so all connections
 * share them; there is more than one as an answer may be completed, and the next request begun, while another is put together.
 */
const freeRooms: Buffer[] = []

/**
 * What is on its way out of a socket. Bun buffers nothing: a write takes what the kernel takes, and the rest waits here for `drain`.
 * Bounded by the producers, which look at `isFull` after each write.
 */
export class Outgoing {
  readonly #socket: WritableSocket
  readonly #queue: Buffer[] = []
  #queuedBytes = 0
  #room: Buffer | undefined
  #holds = 0
  #isShort = false
  #roomBytes = 0
  #isEnding = false
  #isClosed = false

  constructor(socket: WritableSocket) {
    this.#socket = socket
  }

  get isEmpty(): boolean {
    return this.#queuedBytes === 0 && this.#roomBytes === 0
  }

  get isFull(): boolean {
    return this.#queuedBytes >= HIGH_WATER_BYTES
  }

  get isStalled(): boolean {
    return this.#isShort || !this.isEmpty
  }

  get queuedBytes(): number {
    return this.#queuedBytes
  }

  writeHead(text: string): void {
    const room = this.#room
    if (room === undefined) this.write(Buffer.from(text, 'latin1'))
    else if (text.length > room.length - this.#roomBytes) this.write(Buffer.from(text, 'latin1'))
    else this.#roomBytes += room.write(text, this.#roomBytes, 'latin1')
  }

  /** Takes a part of `bytes`, which must not change any more. It is copied only when it follows a head. */
  write(bytes: Buffer, from = 0, to = bytes.length): void {
    const room = this.#room
    if (room === undefined || this.#roomBytes === 0) {
      this.#send(bytes, from, to)
    } else if (to - from > room.length - this.#roomBytes) {
      this.#sendRoom(room)
      this.#send(bytes, from, to)
    } else {
      bytes.copy(room, this.#roomBytes, from, to)
      this.#roomBytes += to - from
    }
  }

  offer(bytes: Buffer, from: number, to: number): number {
    const room = this.#room
    if (room !== undefined && this.#roomBytes > 0) {
      const count = Math.min(to - from, room.length - this.#roomBytes)
      bytes.copy(room, this.#roomBytes, from, from + count)
      this.#roomBytes += count
      return count
    }
    const sent = this.#sendNow(bytes, from, to - from)
    if (sent < to - from) this.#isShort = true
    return sent
  }

  /** What is written from now on goes out together at the matching `release`: a head and the start of its body make one packet. */
  hold(): void {
    if (this.#holds === 0) this.#room = freeRooms.pop() ?? Buffer.allocUnsafeSlow(ROOM_BYTES)
    this.#holds += 1
  }

  release(): void {
    this.#holds -= 1
    const room = this.#room
    if (this.#holds > 0 || room === undefined) return
    this.#room = undefined
    this.#sendRoom(room)
    freeRooms.push(room)
    this.#shutDownWhenDone()
  }

  flush(): void {
    this.#isShort = false
    for (let bytes = this.#queue[0]; bytes !== undefined; bytes = this.#queue[0]) {
      const written = this.#socket.write(bytes, 0, bytes.length)
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
    }
    this.#shutDownWhenDone()
  }

  end(): void {
    this.#isEnding = true
    this.#shutDownWhenDone()
  }

  #sendRoom(room: Buffer): void {
    const count = this.#roomBytes
    this.#roomBytes = 0
    const sent = this.#sendNow(room, 0, count)
    // Copied, because the pooled buffer is overwritten by the next connection that sends.
    if (sent < count) this.#wait(Buffer.from(room.subarray(sent, count)))
  }

  #send(bytes: Buffer, from: number, to: number): void {
    const sent = this.#sendNow(bytes, from, to - from)
    if (sent < to - from) this.#wait(bytes.subarray(from + sent, to))
  }

  #sendNow(bytes: Buffer, from: number, count: number): number {
    if (count === 0 || this.#isClosed) return count
    if (this.#queuedBytes > 0) return 0
    const written = this.#socket.write(bytes, from, count)
    if (written >= 0) return written
    this.#drop()
    return count
  }

  /** A small rest must not keep alive all that it came with. */
  #wait(bytes: Buffer): void {
    this.#queue.push(bytes.length * SMALL_REST < bytes.buffer.byteLength ? Buffer.from(bytes) : bytes)
    this.#queuedBytes += bytes.length
  }

  #shutDownWhenDone(): void {
    if (this.#isEnding && this.isEmpty && this.#room === undefined) this.#socket.shutdown()
  }

  #drop(): void {
    this.#isClosed = true
    this.#queue.length = 0
    this.#queuedBytes = 0
  }
}
