import type { ClientSide } from '../exchange/exchange.ts'
import { BadMessage } from '../message/bad-message.ts'
import type { PayloadSink } from '../message/body.ts'
import type { Header } from '../message/header.ts'
import type { ResponseHead } from '../message/response-head.ts'
import { ResponseReader } from '../message/response-reader.ts'
import { parseTrailers } from '../message/trailers.ts'

/** Interim answers to one request: more than any client knows what to do with. */
const MAX_INTERIM = 10

export interface RelayedAnswer {
  client: ClientSide
  method: string
  headers: readonly Header[]
  limits: { maxHeadBytes: number; maxFields: number }
}

/** What became of the next part of an answer: the head is that of a change of protocol. */
export type RelayStep = 'empty' | 'passed' | 'end' | ResponseHead

/** Reads an instance's answer and passes it on to the client, in the form that its protocol takes. */
export class AnswerRelay implements PayloadSink {
  readonly #client: ClientSide
  readonly #headers: readonly Header[]
  readonly #maxFields: number
  readonly #reader: ResponseReader
  #response: ResponseHead | undefined
  #interimCount = 0
  #isKeptAlive = false

  constructor({ client, method, headers, limits }: RelayedAnswer) {
    this.#client = client
    this.#headers = headers
    this.#maxFields = limits.maxFields
    this.#reader = new ResponseReader({ method, limits, sink: client.takesChunks ? undefined : this })
  }

  get hasReceived(): boolean {
    return this.#reader.hasStarted
  }

  get hasBegun(): boolean {
    return this.#response !== undefined
  }

  get isKeptAlive(): boolean {
    return this.#isKeptAlive
  }

  /** Whether the instance's connection may be used for another request. */
  get isReusable(): boolean {
    return this.#response?.isKeepAlive === true && this.#reader.excessBytes === 0
  }

  get isWholeAtEnd(): boolean {
    return this.#response !== undefined && this.#reader.isWholeAtEnd()
  }

  push(bytes: Buffer): void {
    this.#reader.push(bytes)
  }

  takeRest(): Buffer {
    return this.#reader.takeRest()
  }

  /** Throws BadMessage for an answer that is not valid HTTP. */
  next(): RelayStep {
    const event = this.#reader.next()
    switch (event?.kind) {
      case undefined:
        return 'empty'
      case 'interim':
        if (++this.#interimCount > MAX_INTERIM) throw new BadMessage(502, `it sends more than ${MAX_INTERIM} interim answers`)
        this.#client.forwardInterim(event.head)
        return 'passed'
      case 'head':
        this.#begin(event.head)
        return 'passed'
      case 'body':
        if (this.#client.takesChunks || this.#response?.framing.kind !== 'chunked') this.#client.write(event.bytes, event.from, event.to)
        return 'passed'
      case 'switch':
        return event.head
      case 'end':
        return 'end'
    }
  }

  onPayload(payload: Buffer): void {
    this.#client.write(payload)
  }

  onTrailers(lines: string): void {
    this.#client.forwardTrailers(parseTrailers(lines, this.#maxFields))
  }

  #begin(response: ResponseHead): void {
    this.#response = response
    const isDelimited = response.framing.kind !== 'until-close' && (this.#client.takesChunks || response.framing.kind !== 'chunked')
    this.#isKeptAlive = this.#client.keepsAlive && isDelimited
    this.#client.forwardHead(response, { isKeptAlive: this.#isKeptAlive, headers: this.#headers })
  }
}
