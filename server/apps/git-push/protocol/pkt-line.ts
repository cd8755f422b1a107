/** Lines of git's protocol (gitprotocol-common(5)): four hexadecimal digits with the length, themselves included, then as many bytes. */

const HEAD_BYTES = 4
/** The longest payload that every git takes. */
export const MAX_PAYLOAD_BYTES = 65_516

export const FLUSH: Uint8Array = new TextEncoder().encode('0000')

/** One line of the protocol. The payload is at most `MAX_PAYLOAD_BYTES` long. */
export function pktLine(payload: string | Uint8Array): Uint8Array {
  const bytes = Buffer.from(payload)
  const head = (bytes.length + HEAD_BYTES).toString(16).padStart(HEAD_BYTES, '0')
  return Buffer.concat([Buffer.from(head), bytes])
}

/** What stands at the beginning of the bytes: a line, a flush, too little to tell, or what is no protocol. */
export type Packet =
  | { kind: 'line'; payload: Buffer; byteCount: number }
  | { kind: 'flush'; byteCount: number }
  | { kind: 'incomplete' }
  | { kind: 'malformed' }

export function readPacket(bytes: Buffer): Packet {
  if (bytes.length < HEAD_BYTES) return { kind: 'incomplete' }
  const head = bytes.toString('latin1', 0, HEAD_BYTES)
  if (!/^[0-9a-f]{4}$/i.test(head)) return { kind: 'malformed' }
  const byteCount = Number.parseInt(head, 16)
  if (byteCount === 0) return { kind: 'flush', byteCount: HEAD_BYTES }
  if (byteCount < HEAD_BYTES || byteCount > MAX_PAYLOAD_BYTES + HEAD_BYTES) return { kind: 'malformed' }
  if (bytes.length < byteCount) return { kind: 'incomplete' }
  return { kind: 'line', payload: bytes.subarray(HEAD_BYTES, byteCount), byteCount }
}
