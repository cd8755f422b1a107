/** Packets before the first message of a session, which have no type (PostgreSQL's protocol.sgml, "Message Formats"; pqcomm.h). */

/** MAX_STARTUP_PACKET_LENGTH of PostgreSQL. */
const MAX_PACKET_BYTES = 10_000
const HEAD_BYTES = 8
const CANCEL_REQUEST = 80_877_102
const SSL_REQUEST = 80_877_103
const GSS_REQUEST = 80_877_104
const PID_BYTES = 4
/** 4 bytes up to protocol 3.0, at most 256 from 3.2 on. */
const MAX_KEY_BYTES = 256
const PROTOCOL_MAJOR = 3

export interface CancelKey {
  processId: number
  secret: Buffer
}

export type FirstPacket =
  | { kind: 'incomplete' }
  | { kind: 'malformed' }
  | { kind: 'unknown_version' }
  | { kind: 'ssl_request' | 'gss_request'; bytes: number }
  | { kind: 'cancel'; key: CancelKey }
  | { kind: 'startup'; bytes: number; parameters: [string, string][] }

/** Reads the packet that a client begins with; nothing is read beyond what is there. */
export function readFirstPacket(bytes: Buffer): FirstPacket {
  if (bytes.length < 4) return { kind: 'incomplete' }
  const length = bytes.readInt32BE(0)
  if (length < HEAD_BYTES || length > MAX_PACKET_BYTES) return { kind: 'malformed' }
  if (bytes.length < length) return { kind: 'incomplete' }
  const code = bytes.readInt32BE(4)
  const body = bytes.subarray(HEAD_BYTES, length)
  switch (code) {
    case SSL_REQUEST:
    case GSS_REQUEST:
      return length === HEAD_BYTES ? { kind: code === SSL_REQUEST ? 'ssl_request' : 'gss_request', bytes: length } : { kind: 'malformed' }
    case CANCEL_REQUEST:
      return cancelRequest(body)
    default:
      return code >>> 16 === PROTOCOL_MAJOR ? startup(body, length) : { kind: 'unknown_version' }
  }
}

export function cancelRequestOf({ processId, secret }: CancelKey): Buffer {
  const packet = Buffer.alloc(HEAD_BYTES + PID_BYTES + secret.length)
  packet.writeInt32BE(packet.length, 0)
  packet.writeInt32BE(CANCEL_REQUEST, 4)
  packet.writeInt32BE(processId, HEAD_BYTES)
  secret.copy(packet, HEAD_BYTES + PID_BYTES)
  return packet
}

function cancelRequest(body: Buffer): FirstPacket {
  const secret = body.subarray(PID_BYTES)
  if (secret.length === 0 || secret.length > MAX_KEY_BYTES) return { kind: 'malformed' }
  return { kind: 'cancel', key: { processId: body.readInt32BE(0), secret } }
}

/** Names and values in turn, each ended by a zero byte, and a zero byte in place of the next name. Values may be empty. */
function startup(body: Buffer, bytes: number): FirstPacket {
  const texts = body.toString('utf8').split('\0')
  const parameters: [string, string][] = []
  let at = 0
  for (; texts[at] !== ''; at += 2) {
    const [name, value] = [texts[at], texts[at + 1]]
    if (name === undefined || value === undefined) return { kind: 'malformed' }
    parameters.push([name, value])
  }
  const isAtEnd = at === texts.length - 2 && texts[at + 1] === ''
  return isAtEnd ? { kind: 'startup', bytes, parameters } : { kind: 'malformed' }
}
