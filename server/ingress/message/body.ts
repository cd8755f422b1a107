import type { ByteFeed } from './byte-feed.ts'
import { ChunkedBody } from './chunked-body.ts'
import type { Framing } from './framing.ts'

export interface BodyPart {
  kind: 'body'
  bytes: Buffer
  from: number
  to: number
}

export interface BodyTracker {
  readonly isDone: boolean
  take(bytes: Buffer, from: number): number
}

export interface PayloadSink {
  onPayload(payload: Buffer): void
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
