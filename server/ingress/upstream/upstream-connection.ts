import { type Deadlined, type Deadlines, NEVER } from '../limits/deadlines.ts'
import { Outgoing } from '../sockets/outgoing.ts'
import type { Target } from './target.ts'

/** Whoever a connection is working for. At most one at a time; none while it is idle. */
export interface UpstreamUser {
  opened(connection: UpstreamConnection): void
  connectFailed(reason: string): void
  received(bytes: Buffer): void
  /** Everything written so far has gone out. */
  drained(): void
  /** The upstream has closed its side. */
  ended(): void
  /** The connection is gone; `error` is set unless both sides closed it in order. */
  closed(error: Error | undefined): void
  /** The deadline the user has set with `deadlineAt` has passed. */
  timedOut(): void
}

export interface ConnectOptions {
  deadlines: Deadlines
  log: (line: string) => void
  timeoutMs: number
}

type UpstreamSocket = Bun.Socket<UpstreamConnection>

/** One TCP connection to an instance, used for one request after the other. */
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
  /** When it was last given back, on the clock of the deadlines. */
  idleSince = 0
  /** Whether it has served a request before the present one: only then may it have died unnoticed. */
  isReused = false

  private constructor(target: Target, user: UpstreamUser, { deadlines, log, timeoutMs }: ConnectOptions) {
    this.target = target
    this.#deadlines = deadlines
    this.#log = log
    this.#user = user
    this.deadlineAt = deadlines.now + timeoutMs
    deadlines.add(this)
  }

  /** Connects in the background; the user hears of the outcome. */
  static connect(target: Target, user: UpstreamUser, options: ConnectOptions): UpstreamConnection {
    const connection = new UpstreamConnection(target, user, options)
    Bun.connect({ hostname: target.host, port: target.port, allowHalfOpen: true, data: connection, socket: handlers }).catch(() => {
      // Told to the user by connectError already.
    })
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

  /** What is written from now on goes out together at the matching `release`. */
  hold(): void {
    this.#out?.hold()
  }

  release(): void {
    this.#out?.release()
  }

  /** Whether everything written has gone out. */
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

  /** Closes our side once everything is sent. */
  end(): void {
    this.#out?.end()
  }

  /** Takes an idle connection into use. */
  reuse(user: UpstreamUser): void {
    this.#user = user
    this.isReused = true
    this.deadlineAt = NEVER
  }

  /** Goes on with another user in the middle of things. */
  handOver(user: UpstreamUser): void {
    this.#user = user
  }

  /** Gives the connection back for another request, to be closed unless one comes within `idleMs`. */
  giveBack(idleMs: number): void {
    this.#user = undefined
    this.resume()
    this.idleSince = this.#deadlines.now
    this.deadlineAt = this.idleSince + idleMs
    this.target.keep(this)
  }

  /** Ends the connection at once; its user hears nothing more of it. */
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
    // Nobody asked an idle connection for anything.
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
