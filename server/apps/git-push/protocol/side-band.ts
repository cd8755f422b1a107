/** Several streams in one (gitprotocol-pack(5)): the answer itself, what git shows as `remote:`, and what ends everything. */
import { MAX_PAYLOAD_BYTES, pktLine, readPacket } from './pkt-line.ts'

export const bands = { answer: 1, progress: 2, fatal: 3 } as const

const MAX_BAND_BYTES = MAX_PAYLOAD_BYTES - 1

export function onBand(band: number, bytes: Uint8Array): Uint8Array {
  const lines: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += MAX_BAND_BYTES)
    lines.push(pktLine(Buffer.concat([Buffer.of(band), bytes.subarray(at, at + MAX_BAND_BYTES)])))
  return Buffer.concat(lines)
}

/** What keeps a connection open and shows nothing. */
export const KEEP_ALIVE: Uint8Array = pktLine(Buffer.of(bands.answer))

/** The answer and the progress of a program that speaks in bands. What is no line of the protocol ends the reading. */
export function splitBands(bytes: Buffer): { answer: Buffer; progress: Buffer } {
  const parts: Record<number, Buffer[]> = { [bands.answer]: [], [bands.progress]: [], [bands.fatal]: [] }
  let rest = bytes
  for (let packet = readPacket(rest); packet.kind === 'line'; packet = readPacket(rest)) {
    parts[packet.payload[0] ?? 0]?.push(packet.payload.subarray(1))
    rest = rest.subarray(packet.byteCount)
  }
  const joined = (band: number) => Buffer.concat(parts[band] ?? [])
  return { answer: joined(bands.answer), progress: Buffer.concat([joined(bands.progress), joined(bands.fatal)]) }
}
