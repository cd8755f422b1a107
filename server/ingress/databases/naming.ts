import type { ClientSocket, Connection } from '../exchange/client-context.ts'
import type { Deadlined } from '../limits/deadlines.ts'
import type { Reception } from '../serve/transport.ts'

export interface NamingOptions {
  reception: Reception
  /** Called with all that has come whenever more of it does, until it has answered, entered or left. */
  read(naming: Naming, received: Buffer): void
}

/** A client that speaks TLS and has not said yet which database it wants. Its time is that of a head. */
export class Naming implements Connection, Deadlined {
  readonly socket: ClientSocket
  readonly #options: NamingOptions
  #received = Buffer.alloc(0)
  #isOver = false
  deadlineAt: number

  constructor(socket: ClientSocket, options: NamingOptions) {
    this.socket = socket
    this.#options = options
    const { deadlines, limits } = options.reception.context
    this.deadlineAt = deadlines.now + limits.headTimeoutMs
    deadlines.add(this)
  }

  received(bytes: Buffer): void {
    if (this.#isOver) return
    this.#received = Buffer.concat([this.#received, bytes])
    this.#options.read(this, this.#received)
  }

  consume(count: number): void {
    this.#received = this.#received.subarray(count)
  }

  say(words: Buffer | string): void {
    if (words.length > 0) this.socket.write(words)
  }

  leave(words: Buffer | string): void {
    this.#isOver = true
    this.say(words)
    this.socket.shutdown()
  }

  /** The session begins: what `create` makes has the connection from now on. */
  enter(create: () => Connection): void {
    this.#isOver = true
    const { reception } = this.#options
    reception.context.deadlines.delete(this)
    this.socket.data = create()
    reception.replace(this, this.socket.data)
  }

  wait(): void {
    this.#isOver = true
  }

  drained(): void {}

  ended(): void {
    this.drop()
  }

  gone(): void {
    const { context } = this.#options.reception
    context.deadlines.delete(this)
    context.left(this)
  }

  expired(): void {
    this.drop()
  }

  closeWhenIdle(): void {
    this.drop()
  }

  drop(): void {
    this.socket.terminate()
    this.gone()
  }
}
