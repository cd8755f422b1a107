import type { ClientSocket, Connection } from '../exchange/client-context.ts'
import type { Deadlined } from '../limits/deadlines.ts'
import type { ReportedCount } from '../limits/reported-count.ts'
import type { Reception } from '../serve/transport.ts'

export interface TlsAcceptParts {
  reception: Reception
  /** Counts those that come to nothing. */
  failures: ReportedCount
}

/**
 * A client that has connected and not agreed on TLS yet. It has as long as for a head, and what it says before belongs to TLS, or to
 * whoever reads its ClientHello.
 */
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

  /** Whoever closes its side now gets no answer any more. */
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

  /** Says so, and leaves it to the client to close. */
  refuse(reason: string, words: Buffer): void {
    this.#isRefused = true
    this.#parts.failures.count(reason)
    this.#socket.write(words)
    this.#socket.shutdown()
  }

  /** From now on this socket is the client's. */
  moveTo(socket: ClientSocket): void {
    this.#socket = socket
  }

  /** TLS is agreed on: another connection takes over. */
  settle(create: () => Connection): void {
    const { context } = this.#parts.reception
    context.deadlines.delete(this)
    this.#socket.data = create()
    this.#parts.reception.replace(this, this.#socket.data)
  }
}
