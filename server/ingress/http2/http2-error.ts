/** The error codes of RFC 9113 section 7 that the ingress sends. */
export const ErrorCode = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  enhanceYourCalm: 11,
} as const

/** A peer that breaks the protocol in a way after which nothing it sends can be trusted or followed: the connection ends (section 5.4.1). */
export class ConnectionError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.name = 'ConnectionError'
    this.code = code
  }
}

/** Something that is wrong with one stream alone: it is reset, the others go on (section 5.4.2). */
export class StreamError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.name = 'StreamError'
    this.code = code
  }
}
