import { ConnectionError, ErrorCode } from './http2-error.ts'

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

/** The words every client begins with (RFC 9113 section 3.4). */
export class Preface {
  #matchedBytes = 0

  get isWhole(): boolean {
    return this.#matchedBytes === PREFACE.length
  }

  take(bytes: Buffer): number {
    const count = Math.min(bytes.length, PREFACE.length - this.#matchedBytes)
    const expected = PREFACE.subarray(this.#matchedBytes, this.#matchedBytes + count)
    if (!bytes.subarray(0, count).equals(expected)) throw new ConnectionError(ErrorCode.protocolError, 'this is not HTTP/2')
    this.#matchedBytes += count
    return count
  }
}
