import type { ByteFeed } from './byte-feed.ts'
import { ChunkedBody } from './chunked-body.ts'
import type { Framing } from './framing.ts'

/** A part of a body: the bytes from `from` up to `to`, as they were received. */
export interface BodyPart {
  kind: 'body'
  bytes: Buffer
  from: number
  to: number
}

/** Follows a body through the bytes of a connection, without copying or changing them. */
export interface BodyTracker {
  readonly isDone: boolean
  /** How many of these bytes, from `from` on, belong to the body. Throws BadMessage when the framing is broken. */
  take(bytes: Buffer, from: number): number
}

/** Receives what a chunked body carries, without its framing. */
export interface PayloadSink {
  onPayload(payload: Buffer): void
  /** The lines behind the payload, each with its CRLF; not called when there are none. */
  onTrailers(lines: string): void
}

export function trackBody(framing: Framing, sink?: PayloadSink): BodyTracker {
  switch (framing.kind) {
    case 'none':
      return new LengthBody(0)
    case 'length':
      return new LengthBody(framing.bytes)
    case 'chunked':
      return new ChunkedBody(sink)
    case 'until-close':
      return { isDone: false, take: (bytes, from) => bytes.length - from }
  }
}

/** The part of the body that the feed holds; undefined when it holds nothing. */
export function takePart(body: BodyTracker, feed: ByteFeed): BodyPart | undefined {
  if (feed.length === 0) return undefined
  const { bytes, from } = feed
  const count = body.take(bytes, from)
  feed.drop(count)
  return { kind: 'body', bytes, from, to: from + count }
}

class LengthBody implements BodyTracker {
  #leftBytes: number

  constructor(bytes: number) {
    this.#leftBytes = bytes
  }

  get isDone(): boolean {
    return this.#leftBytes === 0
  }

  take(bytes: Buffer, from: number): number {
    const taken = Math.min(this.#leftBytes, bytes.length - from)
    this.#leftBytes -= taken
    return taken
  }
}
