import { type Deadlined, type Deadlines, NEVER } from '../limits/deadlines.ts'
import { Outgoing } from '../sockets/outgoing.ts'
import type { Target } from './target.ts'

export interface UpstreamUser {
  opened(connection: UpstreamConnection): void
  connectFailed(reason: string): void
  received(bytes: Buffer): void
  drained(): void
  ended(): void
  /** The connection is gone; `error` is set unless both sides closed it in order. */
  closed(error: Error | undefined): void
  timedOut(): void
}

export interface ConnectOptions {
  deadlines: Deadlines
  log: (line: string) => void
  timeoutMs: number
}

type UpstreamSocket = Bun.Socket<UpstreamConnection>

export class UpstreamConnection implements Deadlined {
  readonly target: Target
  readonly #deadlines: Deadlines
  readonly #log: (line: string) => void
  #socket: UpstreamSocket | undefined
  #out: Outgoing | undefined
  #user: UpstreamUser | undefined
  #isClosed = false
  #isPaused = false
  deadlineAt: number
  idleSince = 0
  isReused = false

  private constructor(target: Target, user: UpstreamUser, { deadlines, log, timeoutMs }: ConnectOptions) {
    this.target = target
    this.#deadlines = deadlines
    this.#log = log
    this.#user = user
    this.deadlineAt = deadlines.now + timeoutMs
    deadlines.add(this)
  }

  static connect(target: Target, user: UpstreamUser, options: ConnectOptions): UpstreamConnection {
    const connection = new UpstreamConnection(target, user, options)
    Bun.connect({ hostname: target.host, port: target.port, allowHalfOpen: true, data: connection, socket: handlers }).catch(() => {})
    return connection
  }

  get isUsable(): boolean {
    return !this.#isClosed && (this.#socket?.readyState ?? 0) > 0
  }

  get isFull(): boolean {
    return this.#out?.isFull ?? false
  }

  get queuedBytes(): number {
    return this.#out?.queuedBytes ?? 0
  }

  writeHead(head: string): void {
    this.#out?.writeHead(head)
  }

  write(bytes: Buffer, from?: number, to?: number): void {
    this.#out?.write(bytes, from, to)
  }

  hold(): void {
    this.#out?.hold()
  }

  release(): void {
    this.#out?.release()
  }

  get isFlushed(): boolean {
    return this.#out?.isEmpty ?? true
  }

  pause(): void {
    if (!this.#isPaused) this.#socket?.pause()
    this.#isPaused = true
  }

  resume(): void {
    if (this.#isPaused) this.#socket?.resume()
    this.#isPaused = false
  }

  end(): void {
    this.#out?.end()
  }

  reuse(user: UpstreamUser): void {
    this.#user = user
    this.isReused = true
    this.deadlineAt = NEVER
  }

  handOver(user: UpstreamUser): void {
    this.#user = user
  }

  giveBack(idleMs: number): void {
    this.#user = undefined
    this.resume()
    this.idleSince = this.#deadlines.now
    this.deadlineAt = this.idleSince + idleMs
    this.target.keep(this)
  }

  close(): void {
    this.#user = undefined
    this.#isClosed = true
    this.#deadlines.delete(this)
    this.#socket?.terminate()
  }

  expired(): void {
    const user = this.#user
    if (user === undefined) {
      this.target.forget(this)
      this.close()
    } else if (this.#socket === undefined) {
      this.close()
      user.connectFailed('it did not accept the connection in time')
    } else {
      user.timedOut()
    }
  }

  opened(socket: UpstreamSocket): void {
    if (this.#isClosed) return void socket.terminate()
    this.#socket = socket
    this.#out = new Outgoing(socket)
    this.deadlineAt = NEVER
    this.#user?.opened(this)
  }

  refused(error: Error): void {
    const user = this.#user
    this.close()
    user?.connectFailed('code' in error ? String(error.code) : error.message)
  }

  received(bytes: Buffer): void {
    if (this.#user === undefined) {
      this.gone(undefined)
      return
    }
    this.#user.received(bytes)
  }

  drained(): void {
    this.#out?.flush()
    if (this.#out?.isEmpty) this.#user?.drained()
  }

  ended(): void {
    if (this.#user === undefined) {
      this.gone(undefined)
      return
    }
    this.#user.ended()
  }

  failed(error: Error): void {
    this.#log(`A connection to ${this.target.instanceId} failed: ${error.stack ?? error.message}`)
    this.gone(error)
  }

  gone(error: Error | undefined): void {
    const user = this.#user
    this.target.forget(this)
    this.close()
    user?.closed(error)
  }
}

const handlers: Bun.SocketHandler<UpstreamConnection> = {
  open: (socket) => socket.data.opened(socket),
  connectError: (socket, error) => socket.data.refused(error),
  data: (socket, bytes) => socket.data.received(bytes),
  drain: (socket) => socket.data.drained(),
  end: (socket) => socket.data.ended(),
  close: (socket, error) => socket.data.gone(error),
  // A failing handler must not take the connection's other end with it unseen.
  error: (socket, error) => socket.data.failed(error),
}
