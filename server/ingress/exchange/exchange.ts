import type { Field } from '../message/field-lines.ts'
import type { RequestOrigin } from '../message/forward-request.ts'
import type { Header, LocalHead } from '../message/header.ts'
import type { ResponseHead } from '../message/response-head.ts'
import type { RequestNote } from './request-note.ts'

/** One request and its answer, as the client's side sees whoever answers it: a proxied instance, a static site, a tunnel. */
export interface Exchange {
  /** Whether it can take request bytes right now. When that turns true again it calls `poke` on its client. */
  readonly wantsBody: boolean
  /** The bytes from `from` up to `to`, framed as the request's head says. */
  body(bytes: Buffer, from?: number, to?: number): void
  /** All request bytes received so far have been handed over. */
  bodyPause(): void
  /** The request is whole. */
  bodyEnd(): void
  /** Everything written to the client so far has gone out. */
  clientDrained(): void
  /** The client has closed its side of a tunnel. */
  clientEnded(): void
  /** There is nobody left to answer. Nothing may be called on the client after this. */
  clientGone(): void
  /** Request bytes that it has taken and that nobody has taken from it. */
  readonly keptBytes?: number
}

export interface Forwarding {
  isKeptAlive: boolean
  /** Take the place of the upstream's of the same name. */
  headers: readonly Header[]
}

/** The client's side of one request, whatever protocol it speaks, as whoever answers sees it. Heads are values: each protocol writes its own. */
export interface ClientSide {
  readonly address: string
  /** Whether the peer is one of the trusted proxies. */
  readonly isTrusted: boolean
  readonly scheme: 'http' | 'https'
  /** What the upstream is told of where its requests come from. */
  readonly origin: RequestOrigin
  /** Of the request, as it is logged: HTTP/1.1. */
  readonly protocol: string
  readonly note: RequestNote
  /** Whether the answerer is to pause until `clientDrained`. */
  readonly isFull: boolean
  readonly isRequestWhole: boolean
  /** Whether another request may follow on this connection, as far as can be told now. */
  readonly keepsAlive: boolean
  /** Whether it takes a chunked body as it comes; else it is given the payload alone. */
  readonly takesChunks: boolean
  /** A 1xx: the answer has not begun with it. */
  forwardInterim(head: ResponseHead): void
  /** Begins the answer with an upstream's head, which is written in pieces: to be held. */
  forwardHead(head: ResponseHead, forwarding: Forwarding): void
  /** Begins an answer of our own. */
  writeLocalHead(head: LocalHead, isKeptAlive: boolean): void
  /** Bytes of the answer's body. */
  write(bytes: Buffer, from?: number, to?: number): void
  /**
   * How much of a body that can be had again at any time is worth fetching now; where that is nothing, `clientDrained` tells when to
   * ask again.
   */
  askRoom(): number
  /** Writes of such a body what goes out at once, and returns how much that was: the rest waits where it came from. */
  offer(bytes: Buffer, from: number, to: number): number
  /** What stood behind a chunked body whose payload alone was given: goes out with `finish`. */
  forwardTrailers(fields: readonly Field[]): void
  /** What is written from now on goes out together at the matching `release`. */
  hold(): void
  release(): void
  /** The answer is whole. */
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
