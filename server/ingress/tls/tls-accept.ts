import type { ClientSocket, Connection } from '../exchange/client-context.ts'
import type { Deadlined } from '../limits/deadlines.ts'
import type { ReportedCount } from '../limits/reported-count.ts'
import type { Reception } from '../serve/transport.ts'

export interface TlsAcceptParts {
  reception: Reception
  failures: ReportedCount
}

/** A client that has connected and not agreed on TLS yet. Its time is that of a head. */
export class TlsAccept implements Connection, Deadlined {
  #socket: ClientSocket
  readonly #parts: TlsAcceptParts
  readonly #onBytes: ((bytes: Buffer) => void) | undefined
  #isRefused = false
  deadlineAt: number

  constructor(socket: ClientSocket, parts: TlsAcceptParts, onBytes?: (bytes: Buffer) => void) {
    this.#socket = socket
    this.#parts = parts
    this.#onBytes = onBytes
    const { deadlines, limits } = parts.reception.context
    this.deadlineAt = deadlines.now + limits.headTimeoutMs
    deadlines.add(this)
  }

  received(bytes: Buffer): void {
    if (!this.#isRefused) this.#onBytes?.(bytes)
  }

  drained(): void {}

  ended(): void {
    this.fail('the client went away')
  }

  gone(): void {
    this.#parts.reception.context.deadlines.delete(this)
    this.#parts.reception.context.left(this)
  }

  expired(): void {
    this.fail('it took too long')
  }

  closeWhenIdle(): void {
    this.drop()
  }

  drop(): void {
    this.#socket.terminate()
    this.gone()
  }

  fail(reason: string): void {
    if (!this.#isRefused) this.#parts.failures.count(reason)
    this.drop()
  }

  refuse(reason: string, words: Buffer): void {
    this.#isRefused = true
    this.#parts.failures.count(reason)
    this.#socket.write(words)
    this.#socket.shutdown()
  }

  /** What the client came for is done: it is told so by the end of the connection, and has the rest of its time to go. */
  leave(): void {
    this.#isRefused = true
    this.#socket.shutdown()
  }

  moveTo(socket: ClientSocket): void {
    this.#socket = socket
  }

  settle(create: () => Connection): void {
    const { context } = this.#parts.reception
    context.deadlines.delete(this)
    this.#socket.data = create()
    this.#parts.reception.replace(this, this.#socket.data)
  }
}
