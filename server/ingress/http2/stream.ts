import { ClientRequest } from '../exchange/client-request.ts'
import type { Exchange, Forwarding } from '../exchange/exchange.ts'
import { BadMessage } from '../message/bad-message.ts'
import type { Field } from '../message/field-lines.ts'
import type { LocalHead } from '../message/header.ts'
import type { ResponseHead } from '../message/response-head.ts'
import type { Frame } from './frame.ts'
import { ErrorCode } from './http2-error.ts'
import type { ParsedRequest } from './request-parser.ts'
import { encodeAgreement, encodeLocal, encodeResponse } from './response-block.ts'
import type { StreamHost } from './stream-host.ts'
import { StreamInput } from './stream-input.ts'
import { type OutputOwner, StreamOutput } from './stream-output.ts'
import { agreementProblem } from './websocket-key.ts'

const NO_INPUT = StreamInput.ended()

type Phase = 'request' | 'handshake' | 'tunnel' | 'leaving' | 'over'

export class Http2Stream extends ClientRequest implements OutputOwner {
  readonly id: number
  readonly #host: StreamHost
  readonly #input: StreamInput
  readonly #output: StreamOutput
  #phase: Phase = 'request'
  #websocketKey: string | undefined
  #isEndDelivered = false
  #trailers: readonly Field[] = []
  #inputAt: number
  #unusedBytes = 0

  constructor(id: number, host: StreamHost, isWhole: boolean) {
    super(host)
    this.id = id
    this.#host = host
    this.#input = isWhole ? NO_INPUT : new StreamInput(host.streamWindowBytes)
    this.#output = new StreamOutput(id, host, this)
    this.#inputAt = host.context.deadlines.now
  }

  begin({ head, websocketKey }: ParsedRequest): void {
    this.noteHead(head, websocketKey === undefined ? head.method : 'CONNECT')
    this.#websocketKey = websocketKey
    this.#phase = websocketKey === undefined ? 'request' : 'handshake'
    if (!this.#input.isEnded) this.#input.expect(head.framing, websocketKey !== undefined)
    try {
      this.ask(head)
    } catch (error) {
      this.refuseFor(error)
    }
  }

  beginMalformed(): void {
    this.noteUnknown()
    this.note.status = 400
    this.report()
  }

  data({ bytes, from, to }: Frame, frameBytes: number): void {
    this.#input.push(bytes, { from, to }, frameBytes)
    this.#inputAt = this.context.deadlines.now
    this.#giveBack(frameBytes - (to - from))
    if (this.#phase === 'leaving') this.#host.used(this.#input.clear())
  }

  end(trailers: string): void {
    this.#input.end(trailers)
    if (this.#phase === 'leaving') this.#settle()
  }

  get isForTunnel(): boolean {
    return this.#websocketKey !== undefined
  }

  get hasEnded(): boolean {
    return this.#input.isEnded
  }

  keep(): void {
    this.#input.own()
  }

  grow(bytes: number): void {
    this.#output.grow(bytes)
  }

  get windowBytes(): number {
    return this.#output.windowBytes
  }

  interrupted(): void {
    this.cutOff()
    this.#over('ended')
  }

  reset(code: number): void {
    if (this.#phase === 'over') return
    this.#host.sender.writer.reset(this.id, code)
    this.cutOff()
    this.#over('reset')
  }

  check(now: number): void {
    const { limits } = this.context
    if (this.#output.isWaiting) {
      if (now - this.#output.progressAt > limits.writeIdleMs) this.reset(ErrorCode.cancel)
    } else if (this.#phase === 'leaving') {
      if (now - this.#output.progressAt > limits.lingerMs) this.reset(ErrorCode.noError)
    } else if (this.#phase === 'request' && this.wantsBody) {
      if (now - this.#inputAt > limits.bodyIdleMs) this.refuse(new BadMessage(408, 'the request body did not come in time'))
    }
  }

  get protocol(): string {
    return 'HTTP/2'
  }

  get isFull(): boolean {
    return this.#output.isFull
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
    const bodyBytes = framing.kind === 'length' ? framing.bytes : framing.kind === 'none' ? 0 : Number.POSITIVE_INFINITY
    this.answerBegun(head.status)
    this.#output.begin(encodeResponse(head, headers), bodyBytes)
  }

  writeLocalHead(head: LocalHead): void {
    this.answerBegun(head.status)
    this.#output.begin(encodeLocal(head, this.note.requestId), this.method === 'HEAD' ? 0 : (head.lengthBytes ?? 0))
  }

  write(bytes: Buffer, from = 0, to = bytes.length): void {
    if (this.#phase === 'over') return
    this.note.sentBytes += to - from
    this.#output.write(bytes, from, to)
  }

  askRoom(): number {
    return this.#phase === 'over' ? 0 : this.#output.askRoom()
  }

  offer(bytes: Buffer, from: number, to: number): number {
    if (this.#phase === 'over' || this.#output.isEnded) return to - from
    const count = this.#output.offer(bytes, from, to)
    this.note.sentBytes += count
    return count
  }

  forwardTrailers(fields: readonly Field[]): void {
    this.#trailers = fields
  }

  hold(): void {}

  release(): void {}

  finish(): void {
    this.answerOver()
    if (this.#phase === 'over') return
    const wasTunnel = this.#phase === 'tunnel'
    this.#phase = 'leaving'
    this.#output.progressed()
    this.#forget()
    this.#output.end(this.#trailers)
    if (!wasTunnel) this.#settle()
  }

  abort(): void {
    this.exchange = undefined
    this.reset(ErrorCode.internalError)
  }

  poke(): void {
    this.#inputAt = this.context.deadlines.now
    this.#giveBackUnused()
    this.deliver()
  }

  openTunnel(tunnel: Exchange, head: ResponseHead): Buffer {
    const problem = agreementProblem(head, this.#websocketKey)
    if (problem !== undefined) throw new BadMessage(502, problem)
    this.#phase = 'tunnel'
    this.becomeTunnel(tunnel)
    this.answerBegun(200)
    this.#output.begin(encodeAgreement(head), Number.POSITIVE_INFINITY)
    const early = this.#input.takeAll()
    this.#giveBack(early.length)
    return early
  }

  endTunnelWrites(): void {
    this.#output.end([])
  }

  outputDrained(): void {
    this.exchange?.clientDrained()
  }

  outputEnded(): void {
    if (this.#phase === 'leaving') this.#settle()
  }

  dataSent(isStingy: boolean): void {
    this.#host.dataSent(isStingy)
  }

  protected override breakOff(): void {
    this.reset(ErrorCode.cancel)
  }

  protected override deliverNext(): boolean {
    const canDeliver = this.#canDeliver()
    if (canDeliver) this.#deliverAll()
    return canDeliver
  }

  #canDeliver(): boolean {
    const hasMore = this.#input.waitingBytes > 0 || (this.#input.isEnded && !this.#isEndDelivered)
    if (!hasMore || !(this.exchange?.wantsBody ?? false)) return false
    return this.#phase === 'tunnel' || (this.#phase === 'request' && !this.isRequestWhole)
  }

  #deliverAll(): void {
    const receivedBytes = this.#input.waitingBytes
    this.countReceived(receivedBytes)
    const isEnd = this.#input.isEnded
    if (isEnd) this.#isEndDelivered = true
    const bytes = this.#input.takeAll()
    if (bytes.length > 0) this.exchange?.body(bytes)
    this.#unusedBytes += receivedBytes
    if (this.exchange?.wantsBody ?? true) this.#giveBackUnused()
    if (!isEnd) return
    if (this.#phase === 'tunnel') this.exchange?.clientEnded()
    else this.bodyEnded()
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

  /** Once the answer is out, a client that is still sending is asked to stop (RFC 9113 section 8.1). */
  #settle(): void {
    if (this.#phase !== 'leaving' || !this.#output.isEnded) return
    if (this.#input.isEnded) this.#over('ended')
    else if (this.#websocketKey === undefined) this.reset(ErrorCode.noError)
  }

  #forget(): void {
    this.#host.used(this.#input.clear() + this.#unusedBytes)
    this.#unusedBytes = 0
  }

  #over(state: 'ended' | 'reset'): void {
    if (this.#phase === 'over') return
    this.#phase = 'over'
    this.#forget()
    this.#output.drop()
    this.report()
    this.#host.over(this.id, state)
  }
}
