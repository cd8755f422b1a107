import { STATUS_CODES } from 'node:http'
import { BadMessage } from '../message/bad-message.ts'
import type { Field } from '../message/field-lines.ts'
import { type RequestOrigin, requestIdOf } from '../message/forward-request.ts'
import type { LocalHead } from '../message/header.ts'
import type { RequestHead } from '../message/request-head.ts'
import type { ResponseHead } from '../message/response-head.ts'
import type { ClientContext } from './client-context.ts'
import type { ClientSide, Exchange, Forwarding } from './exchange.ts'
import { pageResponse } from './page.ts'
import type { Peer } from './peer.ts'
import { RequestNote } from './request-note.ts'
import { respond } from './respond.ts'

const RETRY_AFTER_SECONDS = 5

export interface RequestHost {
  readonly context: ClientContext
  readonly peer: Peer
}

/**
 * The life of a request, which is the same in each protocol: noted when its head has come, put to whoever answers, fed with its body as
 * far as that is wanted, refused or cut off, and reported once when it is over. A protocol adds how bytes come and how answers leave.
 */
export abstract class ClientRequest implements ClientSide {
  readonly note = new RequestNote()
  protected readonly context: ClientContext
  readonly #peer: Peer
  protected exchange: Exchange | undefined
  protected method = 'GET'
  protected isTunnel = false
  #isRequestWhole = false
  #isAnswerBegun = false
  #isOver = true
  #isDelivering = false

  constructor({ context, peer }: RequestHost) {
    this.context = context
    this.#peer = peer
  }

  get address(): string {
    return this.#peer.address
  }

  get isTrusted(): boolean {
    return this.#peer.isTrusted
  }

  get scheme(): 'http' | 'https' {
    return this.#peer.scheme
  }

  get origin(): RequestOrigin {
    return this.#peer.origin
  }

  get isRequestWhole(): boolean {
    return this.#isRequestWhole
  }

  abstract readonly protocol: string
  abstract readonly isFull: boolean
  abstract readonly keepsAlive: boolean
  abstract readonly takesChunks: boolean
  abstract forwardInterim(head: ResponseHead): void
  abstract forwardHead(head: ResponseHead, forwarding: Forwarding): void
  abstract writeLocalHead(head: LocalHead, isKeptAlive: boolean): void
  abstract write(bytes: Buffer, from?: number, to?: number): void
  abstract askRoom(): number
  abstract offer(bytes: Buffer, from: number, to: number): number
  abstract forwardTrailers(fields: readonly Field[]): void
  abstract hold(): void
  abstract release(): void
  abstract finish(isKeptAlive: boolean): void
  abstract abort(): void
  abstract poke(): void
  abstract openTunnel(tunnel: Exchange, head: ResponseHead): Buffer
  abstract endTunnelWrites(): void

  protected abstract breakOff(): void

  protected abstract deliverNext(): boolean

  deliver(): void {
    if (this.#isDelivering) return
    this.#isDelivering = true
    try {
      let isMore = true
      while (isMore) isMore = this.deliverNext()
      this.exchange?.bodyPause()
    } catch (error) {
      this.refuseFor(error)
    } finally {
      this.#isDelivering = false
    }
  }

  /** Answers what cannot be served, or gives up where an answer has begun already. */
  refuse({ status, message }: BadMessage): void {
    if (this.#isAnswerBegun && !this.#isOver) {
      this.breakOff()
      return
    }
    this.#leaveExchange()
    if (this.#isOver) this.noteUnknown()
    this.#isRequestWhole = false
    const page = {
      status,
      title: STATUS_CODES[status] ?? 'Bad Request',
      text: `This request was refused: ${message}.`,
      ...(status === 503 && { retryAfterSeconds: RETRY_AFTER_SECONDS }),
    }
    respond(this, this.method, pageResponse(page, undefined))
  }

  protected cutOff(): void {
    this.note.isCutOff = !this.#isOver
    this.#leaveExchange()
    this.report()
  }

  protected get isOver(): boolean {
    return this.#isOver
  }

  protected get wantsBody(): boolean {
    return !this.#isRequestWhole && (this.exchange?.wantsBody ?? false)
  }

  protected noteHead(head: RequestHead, method = head.method): void {
    this.#note(head, method)
    this.#isRequestWhole = head.framing.kind === 'none'
  }

  protected noteUnknown(): void {
    this.#note(undefined, 'GET')
  }

  protected ask(head: RequestHead): void {
    if (head.framing.kind === 'length') this.#refuseLargeBody(head.framing.bytes)
    const exchange = this.context.answer(head, this)
    if (!this.#isOver && !this.isTunnel) this.exchange = exchange
  }

  protected countReceived(bytes: number): void {
    this.note.receivedBytes += bytes
    if (!this.isTunnel) this.#refuseLargeBody(this.note.receivedBytes)
  }

  protected bodyEnded(): void {
    this.#isRequestWhole = true
    this.exchange?.bodyEnd()
  }

  protected answerBegun(status: number): void {
    this.#isAnswerBegun = true
    this.note.status = status
  }

  protected becomeTunnel(tunnel: Exchange): void {
    this.isTunnel = true
    this.exchange = tunnel
  }

  protected answerOver(): void {
    this.exchange = undefined
    this.report()
  }

  protected refuseFor(error: unknown): void {
    if (!(error instanceof BadMessage)) throw error
    this.refuse(error)
  }

  protected report(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.context.finished(this.note, this)
  }

  #note(head: RequestHead | undefined, method: string): void {
    this.note.begin(head, requestIdOf(head?.notable ?? []))
    this.method = method
    this.#isOver = false
    this.#isAnswerBegun = false
  }

  #refuseLargeBody(bytes: number): void {
    const { maxBodyBytes } = this.context.limits
    if (maxBodyBytes > 0 && bytes > maxBodyBytes) throw new BadMessage(413, `the request body is larger than ${maxBodyBytes} bytes`)
  }

  #leaveExchange(): void {
    const exchange = this.exchange
    this.exchange = undefined
    exchange?.clientGone()
  }
}
