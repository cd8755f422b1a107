import type { WritableSocket } from '../sockets/outgoing.ts'

const ROOM_BYTES = 64 * 1024
const MAX_FREE_ROOMS = 64
const freeRooms: Buffer[] = []

/**
 * Puts frames together until the end of the turn, or until a room is full, and sends them in one write. What the kernel does not take
 * waits here for `drained`; whoever produces data is to look at `isStuck` first.
 */
export class Outbox {
  readonly #socket: WritableSocket
  readonly #onFilled: () => void
  #room: Buffer | undefined
  #at = 0
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #isEnding = false
  #isClosed = false

  constructor(socket: WritableSocket, onFilled: () => void) {
    this.#socket = socket
    this.#onFilled = onFilled
  }

  get isStuck(): boolean {
    return this.#waitingBytes > 0
  }

  get isEmpty(): boolean {
    return this.#waitingBytes === 0 && this.#at === 0
  }

  get waitingBytes(): number {
    return this.#waitingBytes + this.#at
  }

  get at(): number {
    return this.#at
  }

  take(count: number): Buffer {
    let room = this.#room
    if (room === undefined) {
      room = freeRooms.pop() ?? Buffer.allocUnsafeSlow(ROOM_BYTES)
      this.#room = room
      this.#onFilled()
    } else if (this.#at + count > room.length) {
      this.#send(room)
    }
    return room
  }

  put(count: number): void {
    this.#at += count
  }

  flush(): void {
    const room = this.#room
    if (room === undefined) return
    this.#send(room)
    this.#room = undefined
    if (freeRooms.length < MAX_FREE_ROOMS) freeRooms.push(room)
    this.#shutDownWhenDone()
  }

  drained(): void {
    for (let bytes = this.#waiting[0]; bytes !== undefined; bytes = this.#waiting[0]) {
      const written = this.#socket.write(bytes, 0, bytes.length)
      if (written < 0) {
        this.#drop()
        return
      }
      this.#waitingBytes -= written
      if (written < bytes.length) {
        this.#waiting[0] = bytes.subarray(written)
        return
      }
      this.#waiting.shift()
    }
    this.#shutDownWhenDone()
  }

  end(): void {
    this.#isEnding = true
    this.flush()
    this.#shutDownWhenDone()
  }

  #send(room: Buffer): void {
    const count = this.#at
    this.#at = 0
    if (count === 0 || this.#isClosed) return
    const written = this.isStuck ? 0 : this.#socket.write(room, 0, count)
    if (written < 0) this.#drop()
    else if (written < count) this.#wait(Buffer.from(room.subarray(written, count)))
  }

  #wait(bytes: Buffer): void {
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
  }

  #shutDownWhenDone(): void {
    if (!this.#isEnding || !this.isEmpty || this.#isClosed) return
    this.#isClosed = true
    this.#socket.shutdown()
  }

  #drop(): void {
    this.#isClosed = true
    this.#waiting = []
    this.#waitingBytes = 0
  }
}
