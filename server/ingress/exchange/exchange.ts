import type { Field } from '../message/field-lines.ts'
import type { RequestOrigin } from '../message/forward-request.ts'
import type { Header, LocalHead } from '../message/header.ts'
import type { ResponseHead } from '../message/response-head.ts'
import type { RequestNote } from './request-note.ts'

export interface Exchange {
  /** Whether request bytes can be taken right now. When that turns true again, `poke` is called on the client. */
  readonly wantsBody: boolean
  /** The bytes from `from` up to `to`, framed as the request's head says. */
  body(bytes: Buffer, from?: number, to?: number): void
  /** All request bytes received so far have been handed over. */
  bodyPause(): void
  bodyEnd(): void
  clientDrained(): void
  clientEnded(): void
  /** There is nobody left to answer. Nothing may be called on the client after this. */
  clientGone(): void
  /** Request bytes that it has taken and that nobody has taken from it. */
  readonly keptBytes?: number
}

export interface Forwarding {
  isKeptAlive: boolean
  headers: readonly Header[]
}

/** The client's side of one request, whatever protocol it speaks, as whoever answers sees it. Heads are values: each protocol writes its own. */
export interface ClientSide {
  readonly address: string
  readonly isTrusted: boolean
  readonly scheme: 'http' | 'https'
  readonly origin: RequestOrigin
  readonly protocol: string
  readonly note: RequestNote
  /** Whether the answerer is to pause until `clientDrained`. */
  readonly isFull: boolean
  readonly isRequestWhole: boolean
  /** Whether another request may follow on this connection, as far as can be told now. */
  readonly keepsAlive: boolean
  /** Whether the client takes a chunked body with its framing; else it is given the payload alone. */
  readonly takesChunks: boolean
  /** A 1xx: the answer has not begun with it. */
  forwardInterim(head: ResponseHead): void
  /** Begins the answer with an upstream's head, which is written in pieces: to be held. */
  forwardHead(head: ResponseHead, forwarding: Forwarding): void
  writeLocalHead(head: LocalHead, isKeptAlive: boolean): void
  write(bytes: Buffer, from?: number, to?: number): void
  /** Bytes worth fetching now of a body that can be had again at any time; where that is 0, `clientDrained` tells when to ask again. */
  askRoom(): number
  /** Writes of such a body what goes out at once, and returns how much that was: the rest waits where it came from. */
  offer(bytes: Buffer, from: number, to: number): number
  /** What stood behind a chunked body whose payload alone was given: goes out with `finish`. */
  forwardTrailers(fields: readonly Field[]): void
  /** What is written from now on goes out together at the matching `release`. */
  hold(): void
  release(): void
  finish(isKeptAlive: boolean): void
  /** The answer cannot be made whole: the client must not take what it got for all of it. */
  abort(): void
  /** Asks for the request bytes that may be waiting. */
  poke(): void
  /**
   * Tells the client that its change of protocol is agreed to: from now on bytes belong to the tunnel. Returns what it has sent
   * already. Throws BadMessage where the head is no agreement to what the client has asked for.
   */
  openTunnel(tunnel: Exchange, head: ResponseHead): Buffer
  /** Closes our side of a tunnel once everything is sent; the client may go on. */
  endTunnelWrites(): void
}
