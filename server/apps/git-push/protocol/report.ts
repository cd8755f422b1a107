/** What becomes of a push, ref by ref (gitprotocol-pack(5), report-status). */
import type { RefOutcome } from '../../context.ts'
import { FLUSH, MAX_PAYLOAD_BYTES, pktLine, readPacket } from './pkt-line.ts'
import { bands, onBand } from './side-band.ts'

export interface Report {
  /** Why the objects were not taken; absent where they were. */
  unpackProblem?: string
  outcomes: readonly RefOutcome[]
}

const MAX_REASON_CHARS = 500

/** A report in the form that the client has asked for. */
export function writeReport({ unpackProblem, outcomes }: Report, capabilities: ReadonlySet<string>): Uint8Array {
  if (!capabilities.has('report-status') && !capabilities.has('report-status-v2'))
    return capabilities.has('side-band-64k') ? FLUSH : Buffer.alloc(0)
  const lines = [
    pktLine(`unpack ${unpackProblem === undefined ? 'ok' : oneLine(unpackProblem)}\n`),
    ...outcomes.map(({ ref, refusal }) => pktLine(refusal === undefined ? `ok ${ref}\n` : `ng ${ref} ${oneLine(refusal)}\n`)),
    FLUSH,
  ]
  const bytes = Buffer.concat(lines)
  return capabilities.has('side-band-64k') ? Buffer.concat([onBand(bands.answer, bytes), FLUSH]) : bytes
}

/** What git has reported. One that says nothing of the objects has not taken them. */
export function readReport(bytes: Buffer): Report {
  const lines: string[] = []
  let rest = bytes
  for (let packet = readPacket(rest); packet.kind === 'line'; packet = readPacket(rest)) {
    lines.push(packet.payload.toString('utf8').replace(/\n$/, ''))
    rest = rest.subarray(packet.byteCount)
  }
  const unpacked = lines.find((line) => line.startsWith('unpack '))?.slice('unpack '.length) ?? 'it ended too early'
  const outcomes = lines.flatMap((line): RefOutcome[] => {
    const [, word, ref = '', refusal] = /^(ok|ng) (\S+)(?: (.*))?$/s.exec(line) ?? []
    if (word === undefined) return []
    return [word === 'ok' ? { ref } : { ref, refusal: refusal ?? 'refused' }]
  })
  return { ...(unpacked === 'ok' ? {} : { unpackProblem: unpacked }), outcomes }
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, Math.min(MAX_REASON_CHARS, MAX_PAYLOAD_BYTES))
