import { STATUS_CODES } from 'node:http'
import type { ClientContext, ClientSocket, Connection } from '../exchange/client-context.ts'
import type { ClientSide, Exchange, Forwarding } from '../exchange/exchange.ts'
import { pageResponse } from '../exchange/page.ts'
import { RequestNote } from '../exchange/request-note.ts'
import { respond } from '../exchange/respond.ts'
import { type Deadlined, NEVER } from '../limits/deadlines.ts'
import type { Account } from '../limits/unsent.ts'
import { BadMessage } from '../message/bad-message.ts'
import { RequestOrigin, requestIdOf } from '../message/forward-request.ts'
import { forwardResponse, forwardSwitch } from '../message/forward-response.ts'
import type { LocalHead } from '../message/header.ts'
import { localHead } from '../message/local-head.ts'
import type { RequestHead } from '../message/request-head.ts'
import { type RequestEvent, RequestReader } from '../message/request-reader.ts'
import type { ResponseHead } from '../message/response-head.ts'
import { Outgoing } from '../sockets/outgoing.ts'

/**
 * Where a connection stands: waiting for a head or reading one; busy with a request; given over to a tunnel; sending its last bytes
 * and waiting for the client to go; gone.
 */
export type Phase = 'head' | 'request' | 'tunnel' | 'closing' | 'closed'

/** How a request is answered whose head was not understood. */
const unknownRequest = { method: 'GET', minorVersion: 1 } as const

/** The most of a body that is fetched at a time as it goes out. */
const OFFER_BYTES = 256 * 1024
const RETRY_AFTER_SECONDS = 5
/** Received but unused bytes from which on the client is made to wait. */
const PAUSE_BYTES = 64 * 1024

/**
 * One connection of a client. It reads one request at a time and hands it to whoever answers; the next one, which may have arrived
 * already, is looked at when the answer is whole. Bytes come from here only as fast as the exchange takes them.
 */
export class ClientConnection implements Connection, Deadlined, ClientSide {
  readonly #socket: ClientSocket
  readonly #context: ClientContext
  readonly #out: Outgoing
  readonly #reader: RequestReader
  readonly #account: Account
  readonly address: string
  readonly isTrusted: boolean
  readonly scheme: 'http' | 'https'
  readonly origin: RequestOrigin
  readonly note = new RequestNote()
  #phase: Phase = 'head'
  #head: RequestHead | undefined
  #exchange: Exchange | undefined
  #isRequestWhole = false
  #isAnswerBegun = false
  #isAnswerOver = false
  #isKeptAlive = false
  #isNoted = true
  #isPumping = false
  #isPaused = false
  /** Whether it makes us keep more than may be. */
  #isTooMuch = false
  /** When what is being waited for began, by the clock of the deadlines. */
  #phaseAt: number
  #stalledAt = 0
  deadlineAt = NEVER

  constructor(socket: ClientSocket, context: ClientContext, scheme: 'http' | 'https') {
    this.#socket = socket
    this.#context = context
    this.scheme = scheme
    this.#out = new Outgoing(socket)
    this.#reader = new RequestReader(context.limits)
    this.address = socket.remoteAddress.replace(/^::ffff:(?=\d+\.)/, '')
    this.isTrusted = context.isTrusted(this.address)
    this.#account = context.unsent.open(this.address, () => this.#evicted())
    this.origin = new RequestOrigin(this)
    this.#phaseAt = context.deadlines.now
    context.deadlines.add(this)
    this.#rebalance()
  }

  // What the socket tells.

  received(bytes: Buffer): void {
    if (this.#phase === 'closing' || this.#phase === 'closed') return
    if (this.#phase === 'tunnel') {
      this.note.receivedBytes += bytes.length
      this.#exchange?.body(bytes)
    } else {
      if (this.#phase === 'head' && this.#reader.bufferedBytes === 0) this.#phaseAt = this.#context.deadlines.now
      this.#reader.push(bytes)
      this.#pump()
    }
    this.#rebalance()
  }

  drained(): void {
    this.#stalledAt = this.#context.deadlines.now
    this.#out.flush()
    if (this.#out.isEmpty) {
      if (this.#phase === 'closing') this.#phaseAt = this.#context.deadlines.now
      this.#exchange?.clientDrained()
      this.#pump()
    }
    this.#rebalance()
  }

  /** A client that closes its side in the middle of a request has given it up; in a tunnel it may still listen. */
  ended(): void {
    if (this.#phase === 'tunnel') this.#exchange?.clientEnded()
    else if (this.#phase === 'request') this.#drop()
    else if (this.#out.isEmpty) this.#socket.end()
    else this.#close()
  }

  gone(): void {
    if (this.#phase === 'closed') return
    this.#phase = 'closed'
    this.#context.deadlines.delete(this)
    this.#account.close()
    this.#leaveExchange()
    this.note.isCutOff = true
    this.#finished()
    this.#context.left(this)
  }

  expired(): void {
    if (this.#isTooMuch || this.#out.isStalled || this.#phase === 'closing') {
      this.#drop()
      return
    }
    if (this.#phase === 'head' && this.#reader.bufferedBytes === 0) this.#close()
    else if (this.#phase === 'head') this.#refuse(new BadMessage(408, 'the request head did not come in time'))
    else if (this.#wantsInput()) this.#refuse(new BadMessage(408, 'the request body did not come in time'))
    // The exchange stopped taking the body meanwhile: it is not the client that is late.
    else this.#rebalance()
  }

  closeWhenIdle(): void {
    if (this.#phase === 'head' && this.#reader.bufferedBytes === 0 && this.#out.isEmpty) this.#close()
  }

  drop(): void {
    this.#drop()
  }

  // What the exchange asks for.

  get isFull(): boolean {
    return this.#out.isFull
  }

  get isRequestWhole(): boolean {
    return this.#isRequestWhole
  }

  get keepsAlive(): boolean {
    return this.#isRequestWhole && !this.#context.isEnding && (this.#head?.isKeepAlive ?? false)
  }

  get protocol(): string {
    return this.#head?.minorVersion === 0 ? 'HTTP/1.0' : 'HTTP/1.1'
  }

  get takesChunks(): boolean {
    return this.#head?.minorVersion !== 0
  }

  forwardInterim(head: ResponseHead): void {
    const { minorVersion, method } = this.#asked()
    if (minorVersion === 0) return
    this.#willWrite()
    forwardResponse(this.#out, head, { minorVersion, method, isKeptAlive: true, headers: [] })
  }

  forwardHead(head: ResponseHead, { isKeptAlive, headers }: Forwarding): void {
    const { minorVersion, method } = this.#asked()
    this.#begunWith(head.status)
    this.#willWrite()
    forwardResponse(this.#out, head, { minorVersion, method, isKeptAlive, headers })
    this.#rebalance()
  }

  writeLocalHead(head: LocalHead, isKeptAlive: boolean): void {
    this.#begunWith(head.status)
    const { minorVersion } = this.#asked()
    this.#willWrite()
    this.#out.writeHead(localHead(head, { minorVersion, isKeptAlive, requestId: this.note.requestId }))
    this.#rebalance()
  }

  write(bytes: Buffer, from = 0, to = bytes.length): void {
    this.#willWrite()
    this.note.sentBytes += to - from
    this.#out.write(bytes, from, to)
    this.#rebalance()
  }

  askRoom(): number {
    return this.#out.isStalled ? 0 : OFFER_BYTES
  }

  offer(bytes: Buffer, from: number, to: number): number {
    this.#willWrite()
    const count = this.#out.offer(bytes, from, to)
    this.note.sentBytes += count
    this.#rebalance()
    return count
  }

  /** HTTP/1.0 has none, and with chunks they have gone already. */
  forwardTrailers(): void {}

  hold(): void {
    this.#out.hold()
  }

  release(): void {
    this.#out.release()
    this.#rebalance()
  }

  finish(isKeptAlive: boolean): void {
    this.#isAnswerOver = true
    this.#isKeptAlive = isKeptAlive
    this.#exchange = undefined
    this.#finished()
    if (this.#phase === 'tunnel') this.#close()
    else this.#settle()
  }

  abort(): void {
    this.#exchange = undefined
    this.#drop()
  }

  poke(): void {
    if (this.#phase === 'request') this.#phaseAt = this.#context.deadlines.now
    this.#pump()
    this.#rebalance()
  }

  openTunnel(tunnel: Exchange, head: ResponseHead): Buffer {
    this.#begunWith(head.status)
    this.#willWrite()
    forwardSwitch(this.#out, head)
    this.#phase = 'tunnel'
    this.#exchange = tunnel
    const early = this.#reader.takeRest()
    this.note.receivedBytes += early.length
    return early
  }

  endTunnelWrites(): void {
    this.#out.end()
  }

  // How it goes on.

  #asked(): { method: string; minorVersion: 0 | 1 } {
    return this.#head ?? unknownRequest
  }

  #begunWith(status: number): void {
    this.#isAnswerBegun = true
    this.note.status = status
  }

  /** The client's time to take what is written begins with the first of it. */
  #willWrite(): void {
    if (!this.#out.isStalled) this.#stalledAt = this.#context.deadlines.now
  }

  /** Tells of the request once. */
  #finished(): void {
    if (this.#isNoted) return
    this.#isNoted = true
    this.#context.finished(this.note, this)
  }

  #pump(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    try {
      while (this.#wantsInput()) {
        const event = this.#reader.next()
        if (event === undefined) break
        this.#take(event)
      }
      this.#exchange?.bodyPause()
    } catch (error) {
      if (!(error instanceof BadMessage)) throw error
      this.#refuse(error)
    } finally {
      this.#isPumping = false
    }
  }

  #wantsInput(): boolean {
    if (this.#phase === 'head') return !this.#out.isFull
    return this.#phase === 'request' && !this.#isRequestWhole && (this.#exchange?.wantsBody ?? false)
  }

  #take(event: RequestEvent): void {
    switch (event.kind) {
      case 'head':
        this.#begin(event.head)
        return
      case 'body':
        this.#phaseAt = this.#context.deadlines.now
        this.note.receivedBytes += event.to - event.from
        this.#refuseLargeBody(this.note.receivedBytes)
        this.#exchange?.body(event.bytes, event.from, event.to)
        return
      case 'end':
        this.#isRequestWhole = true
        this.#exchange?.bodyEnd()
        this.#settle()
        return
    }
  }

  #begin(head: RequestHead): void {
    this.#phase = 'request'
    this.#phaseAt = this.#context.deadlines.now
    this.#head = head
    this.#note(head)
    this.#isRequestWhole = head.framing.kind === 'none'
    this.#isAnswerBegun = false
    this.#isAnswerOver = false
    if (this.#account.isCrowded) throw new BadMessage(503, 'too much of what you asked for is still waiting for you')
    if (head.framing.kind === 'length') this.#refuseLargeBody(head.framing.bytes)
    const exchange = this.#context.answer(head, this)
    if (!this.#isAnswerOver && this.#phase === 'request') this.#exchange = exchange
  }

  #note(head: RequestHead | undefined): void {
    this.note.begin(head, requestIdOf(head?.notable ?? []))
    this.#isNoted = false
  }

  #refuseLargeBody(bytes: number): void {
    const { maxBodyBytes } = this.#context.limits
    if (maxBodyBytes > 0 && bytes > maxBodyBytes) throw new BadMessage(413, `the request body is larger than ${maxBodyBytes} bytes`)
  }

  #settle(): void {
    if (this.#phase !== 'request' || !this.#isAnswerOver) return
    if (!this.#isKeptAlive || !this.#isRequestWhole) {
      this.#close()
      return
    }
    this.#phase = 'head'
    this.#head = undefined
    this.#phaseAt = this.#context.deadlines.now
    this.#pump()
    this.#rebalance()
  }

  /** Answers what cannot be served, or gives up where an answer has begun already. */
  #refuse(reason: BadMessage): void {
    this.#leaveExchange()
    if (this.#phase === 'request' && this.#isAnswerBegun) {
      this.#drop()
      return
    }
    if (this.#isNoted) this.#note(undefined)
    this.#phase = 'request'
    this.#isRequestWhole = false
    const page = {
      status: reason.status,
      title: STATUS_CODES[reason.status] ?? 'Bad Request',
      text: `This request was refused: ${reason.message}.`,
      ...(reason.status === 503 && { retryAfterSeconds: RETRY_AFTER_SECONDS }),
    }
    respond(this, this.#asked().method, pageResponse(page, undefined))
  }

  #leaveExchange(): void {
    const exchange = this.#exchange
    this.#exchange = undefined
    exchange?.clientGone()
  }

  /** Sends what is left and closes our side; the client's further bytes are read and dropped, as a reset could cost it the answer. */
  #close(): void {
    this.#phase = 'closing'
    this.#phaseAt = this.#context.deadlines.now
    this.#reader.takeRest()
    this.#out.end()
    this.#rebalance()
  }

  #drop(): void {
    this.#socket.terminate()
    this.gone()
  }

  #rebalance(): void {
    if (this.#phase === 'closed') return
    const mustPause = this.#phase === 'tunnel' ? !(this.#exchange?.wantsBody ?? true) : this.#mustWait()
    if (mustPause !== this.#isPaused) {
      this.#isPaused = mustPause
      if (mustPause) this.#socket.pause()
      else this.#socket.resume()
    }
    this.#account.set(this.#keptBytes(), 0)
    this.deadlineAt = this.#deadline()
  }

  #evicted(): void {
    this.#isTooMuch = true
    this.deadlineAt = this.#context.deadlines.now
  }

  #keptBytes(): number {
    return this.#out.queuedBytes + this.#reader.bufferedBytes + (this.#exchange?.keptBytes ?? 0)
  }

  #deadline(): number {
    if (this.#isTooMuch) return this.#context.deadlines.now
    return this.#out.isStalled ? this.#stalledAt + this.#context.limits.writeIdleMs : this.#phaseAt + this.#patienceMs()
  }

  /** How long the present phase may last; a request's own time is up to whoever answers it. */
  #patienceMs(): number {
    const { limits } = this.#context
    if (this.#phase === 'closing') return limits.lingerMs
    if (this.#phase === 'head') return this.#reader.bufferedBytes > 0 ? limits.headTimeoutMs : limits.keepAliveMs
    return this.#phase === 'request' && this.#wantsInput() ? limits.bodyIdleMs : NEVER
  }

  #mustWait(): boolean {
    return this.#phase !== 'closing' && this.#reader.bufferedBytes >= PAUSE_BYTES && !this.#wantsInput()
  }
}
