import type { Account } from '../limits/unsent.ts'
import { RequestOrigin } from '../message/forward-request.ts'
import type { ClientContext, ClientSocket } from './client-context.ts'

export class Peer {
  readonly address: string
  readonly isTrusted: boolean
  readonly scheme: 'http' | 'https'
  readonly origin: RequestOrigin
  readonly #socket: ClientSocket
  readonly #account: Account
  #isPaused = false
  #isEvicted = false

  /** `onEvicted` is called when the client makes us keep more than may be: its connection is to end with the next tick. */
  constructor(socket: ClientSocket, context: ClientContext, { scheme, onEvicted }: { scheme: 'http' | 'https'; onEvicted?: () => void }) {
    this.#socket = socket
    this.scheme = scheme
    this.address = socket.remoteAddress.replace(/^::ffff:(?=\d+\.)/, '')
    this.isTrusted = context.isTrusted(this.address)
    this.origin = new RequestOrigin(this)
    this.#account = context.unsent.open(this.address, () => {
      this.#isEvicted = true
      onEvicted?.()
    })
  }

  get isEvicted(): boolean {
    return this.#isEvicted
  }

  get isCrowded(): boolean {
    return this.#account.isCrowded
  }

  keep(bytes: number, streams: number): void {
    this.#account.set(bytes, streams)
  }

  setPaused(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return
    this.#isPaused = isPaused
    if (isPaused) this.#socket.pause()
    else this.#socket.resume()
  }

  close(): void {
    this.#account.close()
  }
}
