import type { ClientSide } from '../exchange/exchange.ts'
import type { LocalHead } from '../message/header.ts'
import type { ByteRange } from './byte-range.ts'
import type { Holdings } from './holdings.ts'
import { BLOCK_BYTES, type OpenFiles, type Readable } from './open-files.ts'
import { PIECE_BYTES, type Pieces } from './pieces.ts'

export interface Body {
  goOn(): void
  stop(): void
}

export interface Sending {
  client: ClientSide
  head: LocalHead
  isKeptAlive: boolean
  range: ByteRange
}

const SMALL_BYTES = 64 * 1024

export class KeptBody implements Body {
  readonly #sending: Sending
  readonly #pieces: Pieces
  readonly #holdings: Holdings
  #at: number
  #isHeld = false
  #isWriting = false
  #isOver = false

  constructor(sending: Sending, pieces: Pieces, holdings: Holdings) {
    this.#sending = sending
    this.#pieces = pieces
    this.#holdings = holdings
    this.#at = sending.range.start
  }

  start(): void {
    const { client, head, isKeptAlive, range } = this.#sending
    const count = range.end - range.start
    const room = client.askRoom()
    client.hold()
    client.writeLocalHead(head, isKeptAlive)
    if (count <= SMALL_BYTES && count <= room) this.#writeAll()
    else if (room > 0) this.#offerNext(room)
    client.release()
    if (room > 0) this.goOn()
    else this.#hold()
  }

  goOn(): void {
    if (this.#isWriting || this.#isOver) return
    const { client, isKeptAlive, range } = this.#sending
    this.#isWriting = true
    while (this.#at < range.end && !this.#isOver) {
      const room = client.askRoom()
      if (room === 0) break
      this.#offerNext(room)
    }
    this.#isWriting = false
    if (this.#isOver) return
    if (this.#at < range.end) {
      this.#hold()
      return
    }
    this.stop()
    client.finish(isKeptAlive)
  }

  stop(): void {
    this.#isOver = true
    if (this.#isHeld) this.#holdings.release(this.#pieces)
    this.#isHeld = false
  }

  #hold(): void {
    if (!this.#isHeld) this.#holdings.hold(this.#pieces)
    this.#isHeld = true
  }

  #writeAll(): void {
    const { client, range } = this.#sending
    while (this.#at < range.end) {
      const { part, from, to } = this.#next()
      client.write(part, from, to)
      this.#at += to - from
    }
  }

  #offerNext(room: number): void {
    const { part, from, to } = this.#next()
    this.#at += this.#sending.client.offer(part, from, Math.min(to, from + room))
  }

  #next(): { part: Buffer; from: number; to: number } {
    const index = Math.floor(this.#at / PIECE_BYTES)
    const part = this.#pieces.parts[index]
    if (part === undefined) throw new Error('the range lies beyond the file')
    const partAt = index * PIECE_BYTES
    return { part, from: this.#at - partAt, to: Math.min(part.length, this.#sending.range.end - partAt) }
  }
}

/** Sends a file as it is read, and reads it only as it is sent: nothing is kept of it while its client takes nothing. */
export class ReadBody implements Body {
  readonly #sending: Sending
  readonly #files: OpenFiles
  readonly #file: Readable
  #goOn: (() => void) | undefined
  #isOver = false

  constructor(sending: Sending, files: OpenFiles, file: Readable) {
    this.#sending = sending
    this.#files = files
    this.#file = file
  }

  async send(): Promise<void> {
    const { client, head, isKeptAlive, range } = this.#sending
    client.writeLocalHead(head, isKeptAlive)
    for (let at = range.start; at < range.end && !this.#isOver; ) {
      const room = client.askRoom()
      if (room === 0) {
        await new Promise<void>((resolve) => {
          this.#goOn = resolve
        })
        continue
      }
      await this.#files.read(this.#file, { at, count: Math.min(room, BLOCK_BYTES, range.end - at) }, (bytes) => {
        if (!this.#isOver) at += client.offer(bytes, 0, bytes.length)
      })
    }
    if (!this.#isOver) client.finish(isKeptAlive)
  }

  goOn(): void {
    this.#goOn?.()
  }

  stop(): void {
    this.#isOver = true
    this.#goOn?.()
  }
}
