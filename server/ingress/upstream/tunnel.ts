import type { ClientSide, Exchange } from '../exchange/exchange.ts'
import type { ResponseHead } from '../message/response-head.ts'
import type { ProxyContext } from './proxy-context.ts'
import type { Target, TargetUse } from './target.ts'
import type { UpstreamConnection, UpstreamUser } from './upstream-connection.ts'
import { goingAwayFrame, WebSocketFrames } from './websocket-frames.ts'

export interface TunnelOptions {
  context: ProxyContext
  client: ClientSide
  connection: UpstreamConnection
  target: Target
  protocol: string
}

export class Tunnel implements Exchange, UpstreamUser, TargetUse {
  readonly #context: ProxyContext
  readonly #client: ClientSide
  readonly #connection: UpstreamConnection
  readonly #target: Target
  readonly #frames: WebSocketFrames | undefined

  constructor({ context, client, connection, target, protocol }: TunnelOptions) {
    this.#context = context
    this.#client = client
    this.#connection = connection
    this.#target = target
    this.#frames = protocol.toLowerCase() === 'websocket' ? new WebSocketFrames() : undefined
  }

  /** Takes both connections over. Throws BadMessage, and has taken nothing then, where the client cannot be told of the change of protocol. */
  start(agreement: ResponseHead, first: Buffer): void {
    const early = this.#client.openTunnel(this, agreement)
    this.#target.tunnels.add(this)
    this.#client.note.isTunnel = true
    this.#connection.handOver(this)
    this.body(early)
    if (first.length > 0) this.received(first)
  }

  get wantsBody(): boolean {
    return !this.#connection.isFull
  }

  get keptBytes(): number {
    return this.#connection.queuedBytes
  }

  body(bytes: Buffer, from?: number, to?: number): void {
    this.#connection.write(bytes, from, to)
    this.#stirred()
  }

  bodyPause(): void {}

  bodyEnd(): void {}

  clientDrained(): void {
    this.#connection.resume()
  }

  clientEnded(): void {
    this.#connection.end()
  }

  clientGone(): void {
    this.#leave()
  }

  opened(): void {}

  connectFailed(): void {}

  received(bytes: Buffer): void {
    this.#frames?.follow(bytes)
    this.#client.write(bytes)
    if (this.#client.isFull) this.#connection.pause()
    this.#stirred()
  }

  drained(): void {
    this.#client.poke()
  }

  ended(): void {
    this.#client.endTunnelWrites()
  }

  closed(error: Error | undefined): void {
    this.#leave()
    if (error === undefined) this.#client.finish(false)
    else this.#client.abort()
  }

  timedOut(): void {
    this.abandon()
  }

  /** Tells a WebSocket client to come again (1001); in the middle of a frame, or of another protocol, there is no way to say it. */
  abandon(): void {
    if (this.#frames?.isBetweenFrames) this.#client.write(goingAwayFrame())
    this.#leave()
    this.#client.finish(false)
  }

  #stirred(): void {
    this.#connection.deadlineAt = this.#context.deadlines.now + this.#context.limits.tunnelIdleMs
  }

  #leave(): void {
    this.#target.tunnels.delete(this)
    this.#connection.close()
  }
}
