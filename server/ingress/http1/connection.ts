import type { ClientContext, ClientSocket, Connection } from '../exchange/client-context.ts'
import { Peer } from '../exchange/peer.ts'
import { type Deadlined, NEVER } from '../limits/deadlines.ts'
import { BadMessage } from '../message/bad-message.ts'
import { Outgoing } from '../sockets/outgoing.ts'
import { type Http1Host, Http1Requests, type Phase } from './requests.ts'

const PAUSE_BYTES = 64 * 1024

export class ClientConnection implements Connection, Deadlined, Http1Host {
  readonly #socket: ClientSocket
  readonly context: ClientContext
  readonly peer: Peer
  readonly out: Outgoing
  readonly #requests: Http1Requests
  #phase: Phase = 'head'
  #phaseAt: number
  #stalledAt = 0
  deadlineAt = NEVER

  constructor(socket: ClientSocket, context: ClientContext, scheme: 'http' | 'https') {
    const { deadlines } = context
    this.#socket = socket
    this.context = context
    this.out = new Outgoing(socket)
    const onEvicted = () => {
      this.deadlineAt = deadlines.now
    }
    this.peer = new Peer(socket, context, { scheme, onEvicted })
    this.#requests = new Http1Requests(this)
    this.#phaseAt = deadlines.now
    deadlines.add(this)
    this.rebalance()
  }

  received(bytes: Buffer): void {
    if (this.#phase === 'closing' || this.#phase === 'closed') return
    if (this.#phase === 'tunnel') {
      this.#requests.receivedInTunnel(bytes)
    } else {
      if (this.#isIdle) this.progressed()
      this.#requests.received(bytes)
    }
    this.rebalance()
  }

  drained(): void {
    this.#stalledAt = this.context.deadlines.now
    this.out.flush()
    if (this.out.isEmpty) {
      if (this.#phase === 'closing') this.progressed()
      this.#requests.drained()
    }
    this.rebalance()
  }

  /** A client that closes its side in the middle of a request has given it up; in a tunnel it may still listen. */
  ended(): void {
    if (this.#phase === 'tunnel') this.#requests.tunnelEnded()
    else if (this.#phase === 'request') this.drop()
    else if (this.out.isEmpty) this.#socket.end()
    else this.close()
  }

  gone(): void {
    if (this.#phase === 'closed') return
    this.#phase = 'closed'
    this.context.deadlines.delete(this)
    this.peer.close()
    this.#requests.gone()
    this.context.left(this)
  }

  expired(): void {
    if (this.peer.isEvicted || this.out.isStalled || this.#phase === 'closing') this.drop()
    else if (this.#isIdle) this.close()
    else if (this.#phase === 'head') this.#requests.refuse(new BadMessage(408, 'the request head did not come in time'))
    else if (this.#requests.wantsInput) this.#requests.refuse(new BadMessage(408, 'the request body did not come in time'))
    // The exchange stopped taking the body meanwhile: it is not the client that is late.
    else this.rebalance()
  }

  closeWhenIdle(): void {
    if (this.#isIdle && this.out.isEmpty) this.close()
  }

  drop(): void {
    this.#socket.terminate()
    this.gone()
  }

  get phase(): Phase {
    return this.#phase
  }

  enter(phase: Phase): void {
    this.#phase = phase
    this.progressed()
  }

  progressed(): void {
    this.#phaseAt = this.context.deadlines.now
  }

  willWrite(): void {
    if (!this.out.isStalled) this.#stalledAt = this.context.deadlines.now
  }

  rebalance(): void {
    if (this.#phase === 'closed') return
    this.peer.setPaused(this.#phase === 'tunnel' ? !this.#requests.takesTunnelBytes : this.#mustWait())
    this.peer.keep(this.out.queuedBytes + this.#requests.keptBytes, 0)
    this.deadlineAt = this.#deadline()
  }

  /** Sends what is left and closes our side; the client's further bytes are read and dropped, as a reset could cost it the answer. */
  close(): void {
    this.enter('closing')
    this.#requests.dropReceived()
    this.out.end()
    this.rebalance()
  }

  get #isIdle(): boolean {
    return this.#phase === 'head' && this.#requests.bufferedBytes === 0
  }

  #deadline(): number {
    if (this.peer.isEvicted) return this.context.deadlines.now
    return this.out.isStalled ? this.#stalledAt + this.context.limits.writeIdleMs : this.#phaseAt + this.#patienceMs()
  }

  #patienceMs(): number {
    const { limits } = this.context
    if (this.#phase === 'closing') return limits.lingerMs
    if (this.#phase === 'head') return this.#requests.bufferedBytes > 0 ? limits.headTimeoutMs : limits.keepAliveMs
    return this.#phase === 'request' && this.#requests.wantsInput ? limits.bodyIdleMs : NEVER
  }

  #mustWait(): boolean {
    return this.#phase !== 'closing' && this.#requests.bufferedBytes >= PAUSE_BYTES && !this.#requests.wantsInput
  }
}
