import { ClientRequest, type RequestHost } from '../exchange/client-request.ts'
import type { Exchange, Forwarding } from '../exchange/exchange.ts'
import { BadMessage } from '../message/bad-message.ts'
import { forwardResponse, forwardSwitch } from '../message/forward-response.ts'
import type { LocalHead } from '../message/header.ts'
import { localHead } from '../message/local-head.ts'
import type { RequestHead } from '../message/request-head.ts'
import { type RequestEvent, RequestReader } from '../message/request-reader.ts'
import type { ResponseHead } from '../message/response-head.ts'
import type { Outgoing } from '../sockets/outgoing.ts'

/** Phases of a connection; `closing` sends the last bytes and waits for the client to go. */
export type Phase = 'head' | 'request' | 'tunnel' | 'closing' | 'closed'

export interface Http1Host extends RequestHost {
  readonly phase: Phase
  readonly out: Outgoing
  enter(phase: Phase): void
  progressed(): void
  willWrite(): void
  rebalance(): void
  close(): void
  drop(): void
}

const OFFER_BYTES = 256 * 1024

/** The requests of one connection, one at a time: the next one, which may have arrived already, is read when the answer is whole. */
export class Http1Requests extends ClientRequest {
  readonly #host: Http1Host
  readonly #out: Outgoing
  readonly #reader: RequestReader
  #head: RequestHead | undefined
  #isKeptAlive = false

  constructor(host: Http1Host) {
    super(host)
    this.#host = host
    this.#out = host.out
    this.#reader = new RequestReader(host.context.limits)
  }

  get bufferedBytes(): number {
    return this.#reader.bufferedBytes
  }

  get keptBytes(): number {
    return this.#reader.bufferedBytes + (this.exchange?.keptBytes ?? 0)
  }

  get wantsInput(): boolean {
    const { phase } = this.#host
    if (phase === 'head') return !this.#out.isFull
    return phase === 'request' && this.wantsBody
  }

  get takesTunnelBytes(): boolean {
    return this.exchange?.wantsBody ?? true
  }

  received(bytes: Buffer): void {
    this.#reader.push(bytes)
    this.deliver()
  }

  receivedInTunnel(bytes: Buffer): void {
    this.countReceived(bytes.length)
    this.exchange?.body(bytes)
  }

  drained(): void {
    this.exchange?.clientDrained()
    this.deliver()
  }

  tunnelEnded(): void {
    this.exchange?.clientEnded()
  }

  gone(): void {
    this.cutOff()
  }

  dropReceived(): void {
    this.#reader.takeRest()
  }

  override refuse(reason: BadMessage): void {
    if (this.#host.phase === 'head') this.#host.enter('request')
    super.refuse(reason)
  }

  get isFull(): boolean {
    return this.#out.isFull
  }

  get keepsAlive(): boolean {
    return this.isRequestWhole && !this.context.isEnding && (this.#head?.isKeepAlive ?? false)
  }

  get protocol(): string {
    return this.#minorVersion === 0 ? 'HTTP/1.0' : 'HTTP/1.1'
  }

  get takesChunks(): boolean {
    return this.#minorVersion !== 0
  }

  forwardInterim(head: ResponseHead): void {
    if (this.#minorVersion === 0) return
    this.#host.willWrite()
    forwardResponse(this.#out, head, { minorVersion: 1, method: this.method, isKeptAlive: true, headers: [] })
  }

  forwardHead(head: ResponseHead, { isKeptAlive, headers }: Forwarding): void {
    this.answerBegun(head.status)
    this.#host.willWrite()
    forwardResponse(this.#out, head, { minorVersion: this.#minorVersion, method: this.method, isKeptAlive, headers })
    this.#host.rebalance()
  }

  writeLocalHead(head: LocalHead, isKeptAlive: boolean): void {
    this.answerBegun(head.status)
    this.#host.willWrite()
    this.#out.writeHead(localHead(head, { minorVersion: this.#minorVersion, isKeptAlive, requestId: this.note.requestId }))
    this.#host.rebalance()
  }

  write(bytes: Buffer, from = 0, to = bytes.length): void {
    this.#host.willWrite()
    this.note.sentBytes += to - from
    this.#out.write(bytes, from, to)
    this.#host.rebalance()
  }

  askRoom(): number {
    return this.#out.isStalled ? 0 : OFFER_BYTES
  }

  offer(bytes: Buffer, from: number, to: number): number {
    this.#host.willWrite()
    const count = this.#out.offer(bytes, from, to)
    this.note.sentBytes += count
    this.#host.rebalance()
    return count
  }

  /** Trailers have gone already with chunks, and HTTP/1.0 has none. */
  forwardTrailers(): void {}

  hold(): void {
    this.#out.hold()
  }

  release(): void {
    this.#out.release()
    this.#host.rebalance()
  }

  finish(isKeptAlive: boolean): void {
    this.#isKeptAlive = isKeptAlive
    this.answerOver()
    if (this.#host.phase === 'tunnel') this.#host.close()
    else this.#settle()
  }

  abort(): void {
    this.exchange = undefined
    this.breakOff()
  }

  poke(): void {
    if (this.#host.phase === 'request') this.#host.progressed()
    this.deliver()
    this.#host.rebalance()
  }

  openTunnel(tunnel: Exchange, head: ResponseHead): Buffer {
    this.answerBegun(head.status)
    this.#host.willWrite()
    forwardSwitch(this.#out, head)
    this.#host.enter('tunnel')
    this.becomeTunnel(tunnel)
    const early = this.#reader.takeRest()
    this.countReceived(early.length)
    return early
  }

  endTunnelWrites(): void {
    this.#out.end()
  }

  /** A request whose head was not understood is answered like one of HTTP/1.1. */
  get #minorVersion(): 0 | 1 {
    return this.#head?.minorVersion ?? 1
  }

  protected override deliverNext(): boolean {
    const event = this.wantsInput ? this.#reader.next() : undefined
    if (event !== undefined) this.#take(event)
    return event !== undefined
  }

  protected override breakOff(): void {
    this.#host.drop()
  }

  #take(event: RequestEvent): void {
    switch (event.kind) {
      case 'head':
        this.#begin(event.head)
        return
      case 'body':
        this.#host.progressed()
        this.countReceived(event.to - event.from)
        this.exchange?.body(event.bytes, event.from, event.to)
        return
      case 'end':
        this.bodyEnded()
        this.#settle()
        return
    }
  }

  #begin(head: RequestHead): void {
    this.#host.enter('request')
    this.#head = head
    this.noteHead(head)
    if (this.#host.peer.isCrowded) throw new BadMessage(503, 'too much of what you asked for is still waiting for you')
    this.ask(head)
  }

  #settle(): void {
    if (this.#host.phase !== 'request' || !this.isOver) return
    if (!this.#isKeptAlive || !this.isRequestWhole) {
      this.#host.close()
      return
    }
    this.#head = undefined
    this.#host.enter('head')
    this.deliver()
    this.#host.rebalance()
  }
}
