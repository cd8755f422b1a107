import { connectWithin } from '../sockets/connect-within.ts'
import { connectionDescriptor, keepAlive } from '../sockets/keep-alive.ts'
import { Outgoing } from '../sockets/outgoing.ts'
import type { ProxyTarget } from '../tables/proxy-target.ts'

interface Side {
  socket: Bun.Socket<PipedConnection>
  out: Outgoing
  isPaused: boolean
  isClosed: boolean
}

export interface PipeOptions {
  targets: readonly ProxyTarget[]
  connectTimeoutMs: number
  vanishedMs: number
  gone(connection: PipedConnection): void
}

export class PipedConnection {
  readonly #options: PipeOptions
  readonly #client: Side
  #instance: Side | undefined
  #target: ProxyTarget | undefined
  #isGone = false

  constructor(client: Bun.Socket<PipedConnection>, options: PipeOptions) {
    this.#options = options
    this.#client = sideOf(client)
    // What it says is left in the kernel until there is somebody to tell it to.
    pause(this.#client)
    void this.#connect()
  }

  get instanceId(): string | undefined {
    return this.#target?.instanceId
  }

  received(from: Bun.Socket<PipedConnection>, bytes: Buffer): void {
    const [own, other] = this.#sides(from)
    if (own === undefined || other === undefined) return
    other.out.write(bytes)
    if (other.out.isFull) pause(own)
  }

  drained(of: Bun.Socket<PipedConnection>): void {
    const [own, other] = this.#sides(of)
    own?.out.flush()
    if (own?.out.isEmpty && other !== undefined) resume(other)
  }

  ended(by: Bun.Socket<PipedConnection>): void {
    this.#sides(by)[1]?.out.end()
  }

  closed(side: Bun.Socket<PipedConnection>, error: Error | undefined): void {
    const [own, other] = this.#sides(side)
    if (own === undefined) return
    own.isClosed = true
    if (error !== undefined || other === undefined) this.cut()
    else if (other.isClosed) this.#leave()
    // Once both have ended there is no word of the second end but this one.
    else other.out.end()
  }

  cut(): void {
    this.#client.socket.terminate()
    this.#instance?.socket.terminate()
    this.#leave()
  }

  async #connect(): Promise<void> {
    for (const target of this.#options.targets) {
      const socket = await connectWithin(target, { data: this, handlers: pipeEvents, timeoutMs: this.#options.connectTimeoutMs })
      if (socket === undefined) continue
      if (this.#isGone) return void socket.terminate()
      this.#target = target
      this.#instance = sideOf(socket)
      keepAlive(connectionDescriptor(socket), this.#options.vanishedMs)
      resume(this.#client)
      return
    }
    this.cut()
  }

  #sides(own: Bun.Socket<PipedConnection>): [Side | undefined, Side | undefined] {
    return own === this.#client.socket ? [this.#client, this.#instance] : [this.#instance, this.#client]
  }

  #leave(): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#options.gone(this)
  }
}

export const pipeEvents: Bun.SocketHandler<PipedConnection> = {
  data: (socket, bytes) => socket.data?.received(socket, bytes),
  drain: (socket) => socket.data?.drained(socket),
  end: (socket) => socket.data?.ended(socket),
  close: (socket, error) => socket.data?.closed(socket, error),
  error: (socket) => socket.data?.cut(),
}

const sideOf = (socket: Bun.Socket<PipedConnection>): Side => ({
  socket,
  out: new Outgoing(socket),
  isPaused: false,
  isClosed: false,
})

function pause(side: Side): void {
  if (!side.isPaused) side.socket.pause()
  side.isPaused = true
}

function resume(side: Side): void {
  if (side.isPaused) side.socket.resume()
  side.isPaused = false
}
