/** Close code 1001 (RFC 6455 section 7.4.1): the endpoint is going away, come again. */
const GOING_AWAY = 1001
const CLOSE_OPCODE = 0x88
const SHORT_HEADER_BYTES = 2

export function goingAwayFrame(): Buffer {
  return Buffer.from([CLOSE_OPCODE, 2, GOING_AWAY >> 8, GOING_AWAY & 0xff])
}

export class WebSocketFrames {
  readonly #header: number[] = []
  #payloadBytes = 0

  get isBetweenFrames(): boolean {
    return this.#header.length === 0 && this.#payloadBytes === 0
  }

  follow(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#payloadBytes > 0) {
        const skipped = Math.min(this.#payloadBytes, bytes.length - at)
        this.#payloadBytes -= skipped
        at += skipped
      } else {
        this.#header.push(bytes[at++] ?? 0)
        this.#finishHeader()
      }
    }
  }

  #finishHeader(): void {
    if (this.#header.length < SHORT_HEADER_BYTES) return
    const second = this.#header[1] ?? 0
    const extendedBytes = extendedLengthBytes(second & 0x7f)
    const maskBytes = (second & 0x80) === 0 ? 0 : 4
    if (this.#header.length < SHORT_HEADER_BYTES + extendedBytes + maskBytes) return
    const extended = this.#header.slice(SHORT_HEADER_BYTES, SHORT_HEADER_BYTES + extendedBytes)
    this.#payloadBytes = extendedBytes === 0 ? second & 0x7f : extended.reduce((sum, byte) => sum * 256 + byte, 0)
    this.#header.length = 0
  }
}

function extendedLengthBytes(length: number): number {
  if (length === 126) return 2
  return length === 127 ? 8 : 0
}
