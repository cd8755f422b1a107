import type { FileHandle } from 'node:fs/promises'
import type { ClientSide, LocalHead } from '../exchange.ts'
import type { ByteRange } from './byte-range.ts'
import { PIECE_BYTES, type Pieces, readWhole } from './pieces.ts'

/** What is told to a body that is on its way to its client. */
export interface Body {
  /** The client takes more. */
  goOn(): void
  /** Nobody takes it any more. */
  stop(): void
}

/** An answer with a body, to be sent whole. */
export interface Sending {
  client: ClientSide
  head: LocalHead
  isKeptAlive: boolean
  range: ByteRange
}

/** Sends what is in memory, as fast as the client takes it. */
export class KeptBody implements Body {
  readonly #sending: Sending
  readonly #pieces: Pieces
  #at: number
  #isWriting = false
  #isOver = false

  constructor(sending: Sending, pieces: Pieces) {
    this.#sending = sending
    this.#pieces = pieces
    this.#at = sending.range.start
  }

  /** Sends the head and begins with the body. */
  start(): void {
    const { client, head, isKeptAlive } = this.#sending
    client.hold()
    client.writeLocalHead(head, isKeptAlive)
    this.#writeNext()
    client.release()
    this.goOn()
  }

  goOn(): void {
    if (this.#isWriting || this.#isOver) return
    const { client, isKeptAlive, range } = this.#sending
    this.#isWriting = true
    while (this.#at < range.end && !client.isFull) this.#writeNext()
    this.#isWriting = false
    if (this.#at < range.end || this.#isOver) return
    this.#isOver = true
    client.finish(isKeptAlive)
  }

  stop(): void {
    this.#isOver = true
  }

  #writeNext(): void {
    const { client, range } = this.#sending
    const index = Math.floor(this.#at / PIECE_BYTES)
    const part = this.#pieces.parts[index]
    if (part === undefined) throw new Error('the range lies beyond the file')
    const partAt = index * PIECE_BYTES
    const from = this.#at - partAt
    const to = Math.min(part.length, range.end - partAt)
    this.#at = partAt + to
    client.write(part, from, to)
  }
}

/** Sends a file as it is read. */
export class ReadBody implements Body {
  readonly #sending: Sending
  readonly #opened: Promise<FileHandle>
  #goOn: (() => void) | undefined
  #isOver = false

  constructor(sending: Sending, opened: Promise<FileHandle>) {
    this.#sending = sending
    this.#opened = opened
  }

  /** Resolves when everything is handed to the client, or nobody takes it any more. */
  async send(): Promise<void> {
    const { client, head, isKeptAlive, range } = this.#sending
    const handle = await this.#opened
    try {
      if (!this.#isOver) client.writeLocalHead(head, isKeptAlive)
      for (let at = range.start; at < range.end && !this.#isOver; ) {
        const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, range.end - at))
        await readWhole(handle, buffer, at)
        if (this.#isOver) return
        client.write(buffer)
        at += buffer.length
        if (client.isFull) await new Promise<void>((resolve) => (this.#goOn = resolve))
      }
    } finally {
      await handle.close()
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
