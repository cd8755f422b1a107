import { ChunkedBody } from './chunked-body.ts'
import type { Framing } from './framing.ts'

/** Follows a body through the bytes of a connection, without copying or changing them. */
export interface BodyTracker {
  readonly isDone: boolean
  /** How many of these bytes, from the first on, belong to the body. Throws BadMessage when the framing is broken. */
  take(bytes: Buffer): number
}

/** Receives what a chunked body carries, without its framing. */
export type PayloadSink = (payload: Buffer) => void

export function trackBody(framing: Framing, onPayload?: PayloadSink): BodyTracker {
  switch (framing.kind) {
    case 'none':
      return new LengthBody(0)
    case 'length':
      return new LengthBody(framing.bytes)
    case 'chunked':
      return new ChunkedBody(onPayload)
    case 'until-close':
      return { isDone: false, take: (bytes) => bytes.length }
  }
}

class LengthBody implements BodyTracker {
  #leftBytes: number

  constructor(bytes: number) {
    this.#leftBytes = bytes
  }

  get isDone(): boolean {
    return this.#leftBytes === 0
  }

  take(bytes: Buffer): number {
    const taken = Math.min(this.#leftBytes, bytes.length)
    this.#leftBytes -= taken
    return taken
  }
}
