import { STATUS_CODES } from 'node:http'
import type { ClientSide, Exchange, Forwarding } from '../exchange/exchange.ts'
import { pageResponse } from '../exchange/page.ts'
import { RequestNote } from '../exchange/request-note.ts'
import { respond } from '../exchange/respond.ts'
import { BadMessage } from '../message/bad-message.ts'
import type { Field } from '../message/field-lines.ts'
import { type RequestOrigin, requestIdOf } from '../message/forward-request.ts'
import type { LocalHead } from '../message/header.ts'
import type { RequestHead } from '../message/request-head.ts'
import type { ResponseHead } from '../message/response-head.ts'
import type { Frame } from './frame.ts'
import type { HpackEncoder } from './hpack-encoder.ts'
import { ErrorCode } from './http2-error.ts'
import type { ParsedRequest } from './request-parser.ts'
import { encodeAgreement, encodeLocal, encodeResponse } from './response-block.ts'
import type { StreamHost } from './stream-host.ts'
import { StreamInput } from './stream-input.ts'
import { type OutputOwner, StreamOutput } from './stream-output.ts'
import { agreementProblem } from './websocket-key.ts'

/** Of the many streams that are nothing but a head. */
const NO_INPUT = StreamInput.ended()

/** A window that is opened byte by byte is no progress: this much must go out in the time that a client may keep us waiting. */
const MIN_PROGRESS_BYTES = 16 * 1024

/** Where a stream stands: its request is being answered; it waits to become a tunnel; it is one; its answer is known and leaves; it is over. */
type Phase = 'request' | 'handshake' | 'tunnel' | 'leaving' | 'over'

/** One stream of a client: a request and its answer, or a tunnel. */
export class Http2Stream implements ClientSide, OutputOwner {
  readonly id: number
  readonly #host: StreamHost
  readonly #input: StreamInput
  readonly #output: StreamOutput
  readonly note = new RequestNote()
  #phase: Phase = 'request'
  #method = 'GET'
  #websocketKey: string | undefined
  #exchange: Exchange | undefined
  #isRequestWhole = false
  #isAnswerBegun = false
  #isNoted = false
  #isDelivering = false
  #isEndDelivered = false
  /** What the answer's length says is still to come. */
  #owedBytes = Number.POSITIVE_INFINITY
  #trailers: readonly Field[] = []
  /** When what is being waited for began, by the clock of the deadlines. */
  #inputAt: number
  #outputAt: number
  /** Since then. */
  #progressBytes = 0
  /** Whose room the client gets back when whoever answers has really used it. */
  #unusedBytes = 0

  /** `isWhole` tells that nothing follows its head. */
  constructor(id: number, host: StreamHost, isWhole: boolean) {
    this.id = id
    this.#host = host
    this.#input = isWhole ? NO_INPUT : new StreamInput(host.streamWindowBytes)
    this.#output = new StreamOutput(id, host.sender, this)
    this.#inputAt = host.context.deadlines.now
    this.#outputAt = this.#inputAt
  }

  // What the client does.

  /** The request's head has come. */
  begin({ head, websocketKey }: ParsedRequest): void {
    this.#method = websocketKey === undefined ? head.method : 'CONNECT'
    this.#websocketKey = websocketKey
    this.#phase = websocketKey === undefined ? 'request' : 'handshake'
    this.note.begin(head, requestIdOf(head.notable))
    this.#isRequestWhole = head.framing.kind === 'none'
    if (!this.#input.isEnded) this.#input.expect(head.framing, websocketKey !== undefined)
    try {
      if (head.framing.kind === 'length') this.#refuseLargeBody(head.framing.bytes)
      this.#ask(head)
    } catch (error) {
      if (!(error instanceof BadMessage)) throw error
      this.refuse(error)
    }
  }

  /** A request that is not served is answered here; `head` is unknown. */
  beginRefused(reason: BadMessage): void {
    this.note.begin(undefined, requestIdOf([]))
    this.refuse(reason)
  }

  /** A request that breaks the protocol is only told of: its stream is reset. */
  beginMalformed(): void {
    this.note.begin(undefined, requestIdOf([]))
    this.note.status = 400
    this.#finished()
  }

  /** Data, stripped of its padding; with it, it had `frameBytes`. Throws StreamError. */
  data({ bytes, from, to }: Frame, frameBytes: number): void {
    this.#input.push(bytes, { from, to }, frameBytes)
    this.#inputAt = this.#host.context.deadlines.now
    this.#giveBack(frameBytes - (to - from))
    if (this.#phase === 'leaving') this.#host.used(this.#input.clear())
  }

  /** The client has ended its side, with these lines behind its data. Throws StreamError. */
  end(trailers: string): void {
    this.#input.end(trailers)
    if (this.#phase === 'leaving') this.#settle()
  }

  /** Or asks to become one. */
  get isTunnel(): boolean {
    return this.#websocketKey !== undefined
  }

  get hasEnded(): boolean {
    return this.#input.isEnded
  }

  /** Hands what was received to whoever answers, as far as that is wanted. */
  deliver(): void {
    if (this.#isDelivering) return
    this.#isDelivering = true
    try {
      while (this.#canDeliver()) this.#deliverAll()
      if (this.#phase === 'request') this.#exchange?.bodyPause()
    } catch (error) {
      if (!(error instanceof BadMessage)) throw error
      this.refuse(error)
    } finally {
      this.#isDelivering = false
    }
  }

  /** What was not wanted yet is to be kept. */
  keep(): void {
    this.#input.own()
  }

  /** The client takes more. */
  grow(bytes: number): void {
    this.#output.grow(bytes)
  }

  get windowBytes(): number {
    return this.#output.windowBytes
  }

  /** The client, or what it did wrong, ends the stream before its time. */
  breakOff(): void {
    this.note.isCutOff = !this.#isNoted
    this.#leaveExchange()
    this.#over('ended')
  }

  /** Ends it with this code. */
  reset(code: number): void {
    if (this.#phase === 'over') return
    this.#host.sender.writer.reset(this.id, code)
    this.note.isCutOff = !this.#isNoted
    this.#leaveExchange()
    this.#over('reset')
  }

  /** Looks whether somebody is late; `now` by the clock of the deadlines. */
  check(now: number): void {
    const { limits } = this.#host.context
    if (this.#output.isWaiting) {
      if (now - this.#outputAt > limits.writeIdleMs) this.reset(ErrorCode.cancel)
    } else if (this.#phase === 'leaving') {
      if (now - this.#outputAt > limits.lingerMs) this.reset(ErrorCode.noError)
    } else if (this.#phase === 'request' && !this.#isRequestWhole && (this.#exchange?.wantsBody ?? false)) {
      if (now - this.#inputAt > limits.bodyIdleMs) this.refuse(new BadMessage(408, 'the request body did not come in time'))
    }
  }

  // What the exchange asks for.

  get address(): string {
    return this.#host.address
  }

  get isTrusted(): boolean {
    return this.#host.isTrusted
  }

  get scheme(): 'http' | 'https' {
    return this.#host.scheme
  }

  get origin(): RequestOrigin {
    return this.#host.origin
  }

  get protocol(): string {
    return 'HTTP/2'
  }

  get isFull(): boolean {
    return this.#output.isFull
  }

  get isRequestWhole(): boolean {
    return this.#isRequestWhole
  }

  /** A stream takes one request; the connection lives on whatever becomes of it. */
  get keepsAlive(): boolean {
    return true
  }

  get takesChunks(): boolean {
    return false
  }

  forwardInterim(head: ResponseHead): void {
    this.#host.sender.writer.headers(this.id, encodeResponse(head, []), false)
  }

  forwardHead(head: ResponseHead, { headers }: Forwarding): void {
    const { framing } = head
    this.#owedBytes = framing.kind === 'length' ? framing.bytes : framing.kind === 'none' ? 0 : Number.POSITIVE_INFINITY
    this.#begun(head.status, encodeResponse(head, headers))
  }

  writeLocalHead(head: LocalHead): void {
    this.#owedBytes = this.#method === 'HEAD' ? 0 : (head.lengthBytes ?? 0)
    this.#begun(head.status, encodeLocal(head, this.note.requestId))
  }

  write(bytes: Buffer, from = 0, to = bytes.length): void {
    if (this.#phase === 'over') return
    const count = to - from
    this.note.sentBytes += count
    this.#owedBytes -= count
    this.#willWait()
    if (!this.#output.isEnded) this.#output.write(bytes, { from, to }, this.#owedBytes <= 0)
  }

  askRoom(): number {
    return this.#phase === 'over' ? 0 : this.#output.askRoom()
  }

  offer(bytes: Buffer, from: number, to: number): number {
    if (this.#phase === 'over' || this.#output.isEnded) return to - from
    const count = this.#output.offer(bytes, { from, to }, this.#owedBytes <= to - from)
    this.note.sentBytes += count
    this.#owedBytes -= count
    return count
  }

  forwardTrailers(fields: readonly Field[]): void {
    this.#trailers = fields
  }

  /** What all streams write in one turn goes out together anyway. */
  hold(): void {}

  release(): void {}

  finish(): void {
    this.#exchange = undefined
    this.#finished()
    if (this.#phase === 'over') return
    const wasTunnel = this.#phase === 'tunnel'
    this.#phase = 'leaving'
    this.#outputAt = this.#host.context.deadlines.now
    this.#forget()
    this.#output.end(this.#trailers)
    if (!wasTunnel) this.#settle()
  }

  abort(): void {
    this.#exchange = undefined
    this.reset(ErrorCode.internalError)
  }

  poke(): void {
    this.#inputAt = this.#host.context.deadlines.now
    this.#giveBackUnused()
    this.deliver()
  }

  openTunnel(tunnel: Exchange, head: ResponseHead): Buffer {
    const problem = agreementProblem(head, this.#websocketKey)
    if (problem !== undefined) throw new BadMessage(502, problem)
    this.#phase = 'tunnel'
    this.#exchange = tunnel
    this.#begun(200, encodeAgreement(head))
    const early = this.#input.takeAll()
    this.#giveBack(early.length)
    return early
  }

  endTunnelWrites(): void {
    this.#output.end([])
  }

  // What the output tells.

  outputDrained(): void {
    this.#exchange?.clientDrained()
  }

  outputEnded(): void {
    if (this.#phase === 'leaving') this.#settle()
  }

  dataSent(count: number, isStingy: boolean): void {
    this.#progressBytes += count
    if (this.#progressBytes >= MIN_PROGRESS_BYTES) this.#progressed()
    this.#host.dataSent(isStingy)
  }

  // How it goes on.

  #progressed(): void {
    this.#outputAt = this.#host.context.deadlines.now
    this.#progressBytes = 0
  }

  /** The client's time to take what is written begins with the first of it. */
  #willWait(): void {
    if (!this.#output.isWaiting) this.#progressed()
  }

  #ask(head: RequestHead): void {
    const exchange = this.#host.context.answer(head, this)
    if (!this.#isNoted && this.#phase !== 'tunnel') this.#exchange = exchange
  }

  #canDeliver(): boolean {
    const hasNews = this.#input.waitingBytes > 0 || (this.#input.isEnded && !this.#isEndDelivered)
    if (!hasNews || !(this.#exchange?.wantsBody ?? false)) return false
    return this.#phase === 'tunnel' || (this.#phase === 'request' && !this.#isRequestWhole)
  }

  #deliverAll(): void {
    const receivedBytes = this.#input.waitingBytes
    this.note.receivedBytes += receivedBytes
    if (this.#phase === 'request') this.#refuseLargeBody(this.note.receivedBytes)
    const isEnd = this.#input.isEnded
    if (isEnd) this.#isEndDelivered = true
    const bytes = this.#input.takeAll()
    if (bytes.length > 0) this.#exchange?.body(bytes)
    this.#unusedBytes += receivedBytes
    if (this.#exchange?.wantsBody ?? true) this.#giveBackUnused()
    if (!isEnd) return
    if (this.#phase === 'tunnel') {
      this.#exchange?.clientEnded()
    } else {
      this.#isRequestWhole = true
      this.#exchange?.bodyEnd()
    }
  }

  #giveBackUnused(): void {
    const bytes = this.#unusedBytes
    this.#unusedBytes = 0
    this.#giveBack(bytes)
  }

  #giveBack(bytes: number): void {
    if (bytes === 0) return
    this.#host.used(bytes)
    if (this.#phase === 'over' || this.#phase === 'leaving') return
    const increment = this.#input.giveBack(bytes)
    if (increment > 0) this.#host.sender.writer.windowUpdate(this.id, increment)
  }

  #begun(status: number, block: HpackEncoder): void {
    this.#isAnswerBegun = true
    this.#progressed()
    this.note.status = status
    const isAll = this.#owedBytes === 0 && this.#phase !== 'tunnel'
    this.#host.sender.writer.headers(this.id, block, isAll)
    if (isAll) this.#output.endedWithHead()
  }

  #refuseLargeBody(bytes: number): void {
    const { maxBodyBytes } = this.#host.context.limits
    if (maxBodyBytes > 0 && bytes > maxBodyBytes) throw new BadMessage(413, `the request body is larger than ${maxBodyBytes} bytes`)
  }

  /** Answers what cannot be served, or gives up where an answer has begun already. */
  refuse(reason: BadMessage): void {
    if (this.#isAnswerBegun) {
      this.reset(ErrorCode.cancel)
      return
    }
    this.#leaveExchange()
    const title = STATUS_CODES[reason.status] ?? 'Bad Request'
    respond(
      this,
      this.#method,
      pageResponse({ status: reason.status, title, text: `This request was refused: ${reason.message}.` }, undefined),
    )
  }

  /** Once the answer is out, a client that is still sending is asked to stop (RFC 9113 section 8.1). */
  #settle(): void {
    if (this.#phase !== 'leaving' || !this.#output.isEnded) return
    if (this.#input.isEnded) this.#over('ended')
    else if (this.#websocketKey === undefined) this.reset(ErrorCode.noError)
  }

  #leaveExchange(): void {
    const exchange = this.#exchange
    this.#exchange = undefined
    exchange?.clientGone()
  }

  /** What was received is of no use any more. */
  #forget(): void {
    this.#host.used(this.#input.clear() + this.#unusedBytes)
    this.#unusedBytes = 0
  }

  #over(state: 'ended' | 'reset'): void {
    if (this.#phase === 'over') return
    this.#phase = 'over'
    this.#forget()
    this.#output.drop()
    this.#finished()
    this.#host.over(this.id, state)
  }

  /** Tells of the request once. */
  #finished(): void {
    if (this.#isNoted) return
    this.#isNoted = true
    this.#host.context.finished(this.note, this)
  }
}
