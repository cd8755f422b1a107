export interface ClientHello {
  serverName: string | undefined
  protocols: readonly string[]
}

export type HelloReading = ClientHello | 'incomplete' | 'malformed'

export const MAX_HELLO_BYTES = 32 * 1024

const RECORD_HEAD_BYTES = 5
const MAX_RECORD_BYTES = 16 * 1024
const HANDSHAKE_RECORD = 22
const CLIENT_HELLO = 1
const HELLO_HEAD_BYTES = 4
const VERSION_AND_RANDOM_BYTES = 34
const SERVER_NAME_EXTENSION = 0
const ALPN_EXTENSION = 16
const HOST_NAME = 0

/** Reads the first bytes of a TLS connection (RFC 8446 section 4.1.2, the same in TLS 1.2). Nothing is read beyond what is there. */
export function readClientHello(bytes: Buffer): HelloReading {
  const message = helloMessage(bytes)
  if (typeof message === 'string') return message
  try {
    return readHello(new Cursor(message))
  } catch (error) {
    if (error instanceof RangeError) return 'malformed'
    throw error
  }
}

function helloMessage(bytes: Buffer): Buffer | 'incomplete' | 'malformed' {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const record = readRecord(bytes, at)
    if (typeof record === 'string') return record
    parts.push(record.part)
    const message = wholeMessage(Buffer.concat(parts))
    if (message !== 'incomplete' || !record.isWhole) return message
    at = record.end
  }
  return 'incomplete'
}

interface HandshakeRecord {
  part: Buffer
  isWhole: boolean
  end: number
}

function readRecord(bytes: Buffer, at: number): HandshakeRecord | 'incomplete' | 'malformed' {
  if (bytes[at] !== HANDSHAKE_RECORD) return 'malformed'
  if (bytes.length < at + RECORD_HEAD_BYTES) return 'incomplete'
  const lengthBytes = bytes.readUInt16BE(at + 3)
  if (bytes[at + 1] !== 3 || lengthBytes === 0 || lengthBytes > MAX_RECORD_BYTES) return 'malformed'
  const end = at + RECORD_HEAD_BYTES + lengthBytes
  return { part: bytes.subarray(at + RECORD_HEAD_BYTES, end), isWhole: bytes.length >= end, end }
}

function wholeMessage(message: Buffer): Buffer | 'incomplete' | 'malformed' {
  if (message.length < HELLO_HEAD_BYTES) return 'incomplete'
  const end = HELLO_HEAD_BYTES + message.readUIntBE(1, 3)
  if (message[0] !== CLIENT_HELLO || end > MAX_HELLO_BYTES) return 'malformed'
  return message.length < end ? 'incomplete' : message.subarray(HELLO_HEAD_BYTES, end)
}

class Cursor {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  number(sizeBytes: 1 | 2): number {
    const value = this.#bytes.readUIntBE(this.#at, sizeBytes)
    this.#at += sizeBytes
    return value
  }

  take(count: number): Buffer {
    if (this.#at + count > this.#bytes.length) throw new RangeError('A length in the ClientHello leads beyond its end')
    const taken = this.#bytes.subarray(this.#at, this.#at + count)
    this.#at += count
    return taken
  }

  block(sizeBytes: 1 | 2): Cursor {
    return new Cursor(this.take(this.number(sizeBytes)))
  }

  text(sizeBytes: 1 | 2): string {
    return this.take(this.number(sizeBytes)).toString('latin1')
  }
}

function readHello(hello: Cursor): ClientHello | 'malformed' {
  hello.take(VERSION_AND_RANDOM_BYTES)
  hello.block(1) // session id
  hello.block(2) // cipher suites
  hello.block(1) // compression methods
  let serverName: string | undefined
  let protocols: readonly string[] = []
  const seen = new Set<number>()
  const extensions = hello.isAtEnd ? undefined : hello.block(2)
  while (extensions !== undefined && !extensions.isAtEnd) {
    const type = extensions.number(2)
    const extension = extensions.block(2)
    if (seen.has(type)) return 'malformed'
    seen.add(type)
    if (type === SERVER_NAME_EXTENSION) serverName = hostName(extension)
    if (type === ALPN_EXTENSION) protocols = protocolNames(extension)
  }
  return hello.isAtEnd ? { serverName, protocols } : 'malformed'
}

/** RFC 6066 section 3: one name of the one type there is. */
function hostName(extension: Cursor): string | undefined {
  const names = extension.block(2)
  const type = names.number(1)
  const name = names.text(2)
  if (type !== HOST_NAME || name === '' || !names.isAtEnd || !extension.isAtEnd) throw new RangeError('The server name is malformed')
  return name.toLowerCase()
}

function protocolNames(extension: Cursor): string[] {
  const list = extension.block(2)
  const names: string[] = []
  while (!list.isAtEnd) names.push(list.text(1))
  if (!extension.isAtEnd) throw new RangeError('The list of protocols is malformed')
  return names
}
