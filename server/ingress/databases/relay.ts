import type { ClientContext, ClientSocket, Connection } from '../exchange/client-context.ts'
import type { Deadlined } from '../limits/deadlines.ts'
import type { Account } from '../limits/unsent.ts'
import { connectWithin } from '../sockets/connect-within.ts'
import { connectionDescriptor, keepAlive, silentMs } from '../sockets/keep-alive.ts'
import { Outgoing } from '../sockets/outgoing.ts'
import type { ProxyTarget } from '../tables/proxy-target.ts'
import type { Logins } from './logins.ts'

/** What a protocol knows of the session that is brought from one side to the other. */
export interface SessionWatch {
  clientSaid(bytes: Buffer): void
  serverSaid(bytes: Buffer): void
  readonly isLetIn: boolean
  /** Nothing is under way that would be lost with the connection. */
  readonly isIdle: boolean
  /** What the client is told last; undefined where it is in the middle of another message. */
  farewell(): Buffer | undefined
}

export interface RelayOptions {
  id: string
  target: ProxyTarget
  first: Buffer
  watch: SessionWatch
  logins: Logins
  context: Pick<ClientContext, 'limits' | 'deadlines' | 'unsent'>
  unreachable(): Buffer
  gone(relay: Relay): void
}

/** How often it is asked, within the time after which a client has vanished. */
const LOOKS = 3

/**
 * Brings a session from a client to its server. Who cannot take more makes the other side wait, and what waits is accounted for. A
 * connection that is silent is left alone, as pools keep theirs for days: whether the client is still there is asked by TCP.
 */
export class Relay implements Connection, Deadlined {
  readonly id: string
  readonly target: ProxyTarget
  readonly address: string
  readonly startedAt = performance.now()
  deadlineAt: number
  receivedBytes = 0
  sentBytes = 0
  readonly #options: RelayOptions
  readonly #client: ClientSocket
  readonly #toClient: Outgoing
  readonly #account: Account
  #server: Bun.Socket<Relay> | undefined
  #toServer: Outgoing | undefined
  #early: Buffer[]
  #isClientPaused = false
  #isServerPaused = false
  #isEnding = false
  #isFinishing = false
  #isGone = false
  #isLetIn = false
  #endLogin = () => {}
  #taken = { receivedBytes: 0, sentBytes: 0 }

  constructor(client: ClientSocket, options: RelayOptions) {
    this.id = options.id
    this.target = options.target
    this.#options = options
    this.#client = client
    this.#toClient = new Outgoing(client)
    this.address = client.remoteAddress
    // Memory may run short in the midst of whatever is done here.
    this.#account = options.context.unsent.open(this.address, () => queueMicrotask(() => this.cut()))
    const { deadlines, limits } = options.context
    this.deadlineAt = deadlines.now + limits.loginWaitMs
    deadlines.add(this)
    this.#early = [options.first]
    this.#holdClient()
    this.#endLogin = options.logins.begin(this.target, this.address, () => void this.#connect())
  }

  takeCounts(): { receivedBytes: number; sentBytes: number } {
    const taken = { receivedBytes: this.receivedBytes - this.#taken.receivedBytes, sentBytes: this.sentBytes - this.#taken.sentBytes }
    this.#taken = { receivedBytes: this.receivedBytes, sentBytes: this.sentBytes }
    return taken
  }

  received(bytes: Buffer): void {
    if (this.#isGone || this.#isFinishing) return
    const out = this.#toServer
    if (out === undefined) {
      this.#early.push(bytes)
      return
    }
    this.#pass(bytes, out)
  }

  drained(): void {
    this.#toClient.flush()
    this.#tally()
    if (this.#toClient.isEmpty && this.#isServerPaused) {
      this.#isServerPaused = false
      this.#server?.resume()
    }
  }

  ended(): void {
    this.#toServer?.end()
    if (this.#toServer === undefined) this.cut()
  }

  gone(): void {
    this.#server?.terminate()
    this.#leave()
  }

  closeWhenIdle(): void {
    this.#isEnding = true
    this.#endIfIdle()
  }

  drop(): void {
    if (!this.#isGone) this.#end()
  }

  expired(): void {
    if (this.#isFinishing) this.cut()
    else if (this.#isLetIn) this.#lookForClient()
    else {
      if (this.sentBytes === 0) this.#toClient.write(this.#options.unreachable())
      this.#server?.terminate()
      this.#finish()
    }
  }

  cut(): void {
    this.#client.terminate()
    this.gone()
  }

  serverSaid(bytes: Buffer): void {
    if (this.#isGone) return
    this.sentBytes += bytes.length
    this.#options.watch.serverSaid(bytes)
    if (!this.#isLetIn && this.#options.watch.isLetIn) this.#letIn()
    this.#toClient.write(bytes)
    if (this.#toClient.isFull && !this.#isServerPaused) {
      this.#isServerPaused = true
      this.#server?.pause()
    }
    this.#tally()
    if (this.#isEnding) this.#endIfIdle()
  }

  serverDrained(): void {
    this.#toServer?.flush()
    this.#tally()
    if (this.#toServer?.isEmpty) this.#releaseClient()
  }

  serverEnded(): void {
    this.#toClient.end()
  }

  serverClosed(): void {
    this.#finish()
  }

  async #connect(): Promise<void> {
    const { target, context, unreachable } = this.#options
    this.deadlineAt = context.deadlines.now + context.limits.loginTimeoutMs
    const server = await connectWithin<Relay>(target, { data: this, handlers: serverEvents, timeoutMs: context.limits.connectTimeoutMs })
    // The end may have come while the server was connected to.
    if (this.#isGone || this.#isFinishing) return void server?.terminate()
    if (server === undefined) {
      this.#toClient.write(unreachable())
      this.#finish()
      return
    }
    this.#server = server
    keepAlive(connectionDescriptor(server), context.limits.vanishedMs)
    const out = new Outgoing(server)
    this.#toServer = out
    for (const bytes of this.#early.splice(0)) this.#pass(bytes, out)
    if (out.isEmpty) this.#releaseClient()
  }

  #letIn(): void {
    this.#isLetIn = true
    this.#endLogin()
    if (!this.#isFinishing) this.#lookForClient()
  }

  #lookForClient(): void {
    const { deadlines, limits } = this.#options.context
    this.deadlineAt = deadlines.now + limits.vanishedMs / LOOKS
    if (silentMs(connectionDescriptor(this.#client)) > limits.vanishedMs) this.cut()
  }

  #pass(bytes: Buffer, out: Outgoing): void {
    this.receivedBytes += bytes.length
    this.#options.watch.clientSaid(bytes)
    out.write(bytes)
    if (out.isFull) this.#holdClient()
    this.#tally()
  }

  #holdClient(): void {
    if (!this.#isClientPaused) this.#client.pause()
    this.#isClientPaused = true
  }

  #releaseClient(): void {
    if (this.#isClientPaused) this.#client.resume()
    this.#isClientPaused = false
  }

  #tally(): void {
    if (!this.#isGone) this.#account.set(this.#toClient.queuedBytes + (this.#toServer?.queuedBytes ?? 0), 0)
  }

  #endIfIdle(): void {
    if (!this.#isGone && this.#options.watch.isIdle) this.#end()
  }

  #end(): void {
    const words = this.#options.watch.farewell()
    if (words !== undefined) this.#toClient.write(words)
    this.#server?.terminate()
    this.#finish()
  }

  /** The client has some time to take what is left for it, and to go. */
  #finish(): void {
    const { deadlines, limits } = this.#options.context
    this.#isFinishing = true
    this.#endLogin()
    this.#toClient.end()
    this.#releaseClient()
    this.deadlineAt = Math.min(this.deadlineAt, deadlines.now + (this.#toClient.isEmpty ? limits.lingerMs : limits.writeIdleMs))
  }

  #leave(): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#options.context.deadlines.delete(this)
    this.#endLogin()
    this.#account.close()
    this.#options.gone(this)
  }
}

const serverEvents: Bun.SocketHandler<Relay> = {
  data: (socket, bytes) => socket.data.serverSaid(bytes),
  drain: (socket) => socket.data.serverDrained(),
  end: (socket) => socket.data.serverEnded(),
  close: (socket) => socket.data.serverClosed(),
  error: (socket) => socket.data.cut(),
}
