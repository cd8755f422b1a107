/** One request and its answer, as the client connection sees whoever answers it: a proxied instance, a static site, a tunnel. */
export interface Exchange {
  /** Whether it can take request bytes right now. When that turns true again it calls `poke` on its client. */
  readonly wantsBody: boolean
  /** The bytes from `from` up to `to`. */
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
}

/** The client connection, as whoever answers sees it. */
export interface ClientSide {
  readonly address: string
  /** Whether the peer is one of the trusted proxies. */
  readonly isTrusted: boolean
  /** Whether the answerer is to pause until `clientDrained`. */
  readonly isFull: boolean
  readonly isRequestWhole: boolean
  /** Whether another request may follow on this connection, as far as can be told now. */
  readonly keepsAlive: boolean
  /** A 1xx: the answer has not begun with it. */
  writeInterim(head: string): void
  writeHead(head: string): void
  write(bytes: Buffer, from?: number, to?: number): void
  /** Sends what `produce` writes together. */
  together(produce: () => void): void
  /** The answer is whole. */
  finish(isKeptAlive: boolean): void
  /** The answer cannot be made whole: the client must not take what it got for all of it. */
  abort(): void
  /** Asks for the request bytes that may be waiting. */
  poke(): void
  /** From now on the connection belongs to the tunnel; returns what the client has sent already. */
  openTunnel(tunnel: Exchange): Buffer
  /** Closes our side of a tunnel once everything is sent; the client may go on. */
  endTunnelWrites(): void
}
