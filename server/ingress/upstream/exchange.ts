import type { ClientSide, Exchange } from '../exchange/exchange.ts'
import { pageResponse } from '../exchange/page.ts'
import { respond } from '../exchange/respond.ts'
import { NEVER } from '../limits/deadlines.ts'
import { BadMessage } from '../message/bad-message.ts'
import { forwardRequest } from '../message/forward-request.ts'
import type { Header } from '../message/header.ts'
import { fieldValue, type RequestHead } from '../message/request-head.ts'
import type { ResponseHead } from '../message/response-head.ts'
import type { ProxyTarget } from '../tables/proxy-target.ts'
import { AnswerRelay } from './answer-relay.ts'
import type { ProxyContext } from './proxy-context.ts'
import type { Target, TargetUse } from './target.ts'
import { Tunnel } from './tunnel.ts'
import { UpstreamConnection, type UpstreamUser } from './upstream-connection.ts'

export interface ProxiedRequest {
  head: RequestHead
  client: ClientSide
  name: string
  headers: readonly Header[]
  proof?: string | undefined
  /** Where the requests to a host can be answered as of now: the table may change while a connection is being tried. */
  targetsOf(host: string): readonly ProxyTarget[]
}

/** May be sent again when nobody knows whether it arrived (RFC 9110 section 9.2.2). */
const idempotentMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])
const RETRY_AFTER_SECONDS = 5

/**
 * One request on its way through an instance. Until a connection stands, another instance may be tried, as nothing has been sent.
 * After that there is one second chance: a request without a body that may be repeated, on a pooled connection that died before
 * the first byte of an answer.
 */
export class ProxyExchange implements Exchange, UpstreamUser, TargetUse {
  readonly #context: ProxyContext
  readonly #head: RequestHead
  readonly #client: ClientSide
  readonly #name: string
  readonly #proof: string | undefined
  readonly #targetsOf: ProxiedRequest['targetsOf']
  readonly #isRepeatable: boolean
  readonly #answer: AnswerRelay
  #unreachable: Set<Target> | undefined
  #target: Target | undefined
  #connection: UpstreamConnection | undefined
  #isConnected = false
  /** The head waits for the start of the body, which has mostly come with it: they make one packet. */
  #isHeadHeld = false

  constructor(context: ProxyContext, { head, client, name, headers, proof, targetsOf }: ProxiedRequest) {
    this.#context = context
    this.#head = head
    this.#client = client
    this.#name = name
    this.#proof = proof
    this.#targetsOf = targetsOf
    this.#isRepeatable = head.framing.kind === 'none' && head.upgrade === undefined && idempotentMethods.has(head.method)
    this.#answer = new AnswerRelay({ client, method: head.method, headers, limits: context.limits })
  }

  start(): void {
    this.#tryNext()
  }

  get wantsBody(): boolean {
    return this.#isConnected && !(this.#connection?.isFull ?? false)
  }

  get keptBytes(): number {
    return this.#connection?.queuedBytes ?? 0
  }

  body(bytes: Buffer, from?: number, to?: number): void {
    const connection = this.#connection
    if (!this.#isHeadHeld) {
      connection?.write(bytes, from, to)
    } else {
      connection?.hold()
      this.#writeHead()
      connection?.write(bytes, from, to)
      connection?.release()
    }
    this.#expectAnswer()
  }

  bodyPause(): void {
    if (this.#isHeadHeld) this.#writeHead()
  }

  bodyEnd(): void {}

  clientDrained(): void {
    this.#connection?.resume()
    this.#expectAnswer()
  }

  clientEnded(): void {
    this.clientGone()
  }

  clientGone(): void {
    this.#leave()
  }

  opened(connection: UpstreamConnection): void {
    this.#send(connection)
  }

  connectFailed(): void {
    this.#connection = undefined
    this.#unreachable ??= new Set()
    if (this.#target !== undefined) this.#unreachable.add(this.#target)
    this.#tryNext()
  }

  received(bytes: Buffer): void {
    this.#expectAnswer()
    this.#answer.push(bytes)
    this.#client.hold()
    try {
      this.#read()
    } finally {
      this.#client.release()
    }
    this.#waitForClient()
  }

  drained(): void {
    this.#client.poke()
  }

  ended(): void {
    this.#lost(undefined)
  }

  closed(error: Error | undefined): void {
    this.#lost(error)
  }

  timedOut(): void {
    this.#failOrTruncate(504, `${this.#name} did not answer in time.`)
  }

  abandon(): void {
    this.#failOrTruncate(503, `${this.#name} was stopped before it had answered. Try again.`)
  }

  #tryNext(isFresh = false): void {
    this.#target?.requests.delete(this)
    const { deadlines, limits, log, targets } = this.#context
    const target = targets.choose(this.#targetsOf(this.#head.host), this.#unreachable)
    this.#target = target
    if (target === undefined) {
      this.#fail(502, `${this.#name} cannot be reached: no instance of it accepts connections.`)
      return
    }
    target.requests.add(this)
    this.#client.note.instanceId = target.instanceId
    const idleMs = this.#isRepeatable ? limits.poolIdleMs : limits.poolFreshMs
    const pooled = isFresh ? undefined : target.takeIdle(deadlines.now - idleMs)
    if (pooled === undefined) {
      this.#connection = UpstreamConnection.connect(target, this, { deadlines, log, timeoutMs: limits.connectTimeoutMs })
    } else {
      pooled.reuse(this)
      this.#send(pooled)
    }
  }

  #send(connection: UpstreamConnection): void {
    this.#connection = connection
    this.#isConnected = true
    if (this.#head.framing.kind === 'none') {
      this.#writeHead()
    } else {
      this.#isHeadHeld = true
      this.#client.poke()
    }
    this.#expectAnswer()
    this.#waitForClient()
  }

  #waitForClient(): void {
    if (this.#connection === undefined || !this.#client.isFull) return
    this.#connection.pause()
    this.#setDeadline(NEVER)
  }

  #writeHead(): void {
    this.#isHeadHeld = false
    const connection = this.#connection
    const { origin, note } = this.#client
    if (connection === undefined) return
    connection.hold()
    forwardRequest(connection, this.#head, { origin, requestId: note.requestId, proof: this.#proof })
    connection.release()
  }

  #expectAnswer(): void {
    this.#setDeadline(this.#context.deadlines.now + this.#context.limits.upstreamIdleMs)
  }

  #setDeadline(at: number): void {
    if (this.#connection !== undefined && this.#isConnected) this.#connection.deadlineAt = at
  }

  #read(): void {
    try {
      for (let step = this.#answer.next(); step !== 'empty'; step = this.#answer.next()) {
        if (step === 'end') this.#complete()
        else if (step !== 'passed') this.#switch(step)
        if (this.#connection === undefined) return
      }
    } catch (error) {
      if (!(error instanceof BadMessage)) throw error
      this.#failOrTruncate(502, `${this.#name} gave an answer that is not valid HTTP: ${error.message}.`)
    }
  }

  #switch(response: ResponseHead): void {
    const [connection, target] = [this.#connection, this.#target]
    if (connection === undefined || target === undefined) return
    if (this.#head.upgrade === undefined) throw new BadMessage(502, 'it changes the protocol unasked')
    const tunnel = new Tunnel({ context: this.#context, client: this.#client, connection, target, protocol: this.#head.upgrade })
    tunnel.start(response, this.#answer.takeRest())
    this.#connection = undefined
    this.#leave()
  }

  #complete(): void {
    const connection = this.#connection
    this.#connection = undefined
    this.#leave()
    const isReusable = this.#client.isRequestWhole && this.#answer.isReusable
    if (isReusable && connection?.isFlushed) connection.giveBack(this.#context.limits.poolIdleMs)
    else connection?.close()
    this.#client.finish(this.#answer.isKeptAlive)
  }

  #lost(error: Error | undefined): void {
    const isStale = this.#connection?.isReused && !this.#answer.hasReceived
    if (isStale && this.#isRepeatable) {
      this.#connection?.close()
      this.#connection = undefined
      this.#isConnected = false
      this.#tryNext(true)
      return
    }
    if (error !== undefined || !this.#answer.isWholeAtEnd) {
      this.#failOrTruncate(502, `${this.#name} closed the connection without an answer.`)
      return
    }
    this.#leave()
    this.#client.finish(false)
  }

  /** An answer that has begun can only be broken off. */
  #failOrTruncate(status: number, text: string): void {
    if (this.#answer.hasBegun) this.#truncate()
    else this.#fail(status, text)
  }

  #truncate(): void {
    this.#leave()
    this.#client.note.hasFailed = true
    this.#client.abort()
  }

  #fail(status: number, text: string): void {
    this.#leave()
    this.#client.note.hasFailed = true
    const titles: Record<number, string> = { 502: 'Bad Gateway', 503: 'Service Unavailable', 504: 'Gateway Timeout' }
    const page = { status, title: titles[status] ?? 'Error', text, ...(status === 503 && { retryAfterSeconds: RETRY_AFTER_SECONDS }) }
    respond(this.#client, this.#head.method, pageResponse(page, fieldValue(this.#head.fields, 'accept')))
  }

  #leave(): void {
    this.#target?.requests.delete(this)
    const connection = this.#connection
    this.#connection = undefined
    connection?.close()
  }
}
