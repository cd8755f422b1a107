import { type LogLevel, type LogType, logLevels } from '../../../shared/log.ts'
import { fold, type LineTest, matches } from './filter.ts'
import { packGrams } from './grams.ts'
import { type LogLine, type RequestLabels, SEPARATOR } from './line.ts'

/** A chunk is a run of lines of one service and type in one row: the messages joined by NUL, and a header of columns. Lines never change. */
export interface EncodedChunk {
  firstSeq: number
  lastSeq: number
  minAt: number
  maxAt: number
  levels: number
  /** Bytes that the lines count towards a service's limit: their text and a little for each line. */
  bytes: number
  header: Uint8Array
  body: Uint8Array
}

export interface StreamKey {
  resource: string
  type: LogType
}

interface Header {
  seqs: number[]
  ats: number[]
  from: number[]
  origins: [instance: string, deployId: string | null][]
  levels: number[]
  labels?: Record<number, RequestLabels>
}

const LINE_OVERHEAD_BYTES = 16
const PACK_OVER_BYTES = 256

export function encodeChunk(lines: readonly LogLine[]): EncodedChunk {
  const body = Buffer.from(lines.map((line) => line.message).join(SEPARATOR))
  const chunk = { firstSeq: Infinity, lastSeq: 0, minAt: Infinity, maxAt: -Infinity, levels: 0 }
  for (const line of lines) {
    chunk.firstSeq = Math.min(chunk.firstSeq, line.seq)
    chunk.lastSeq = Math.max(chunk.lastSeq, line.seq)
    chunk.minAt = Math.min(chunk.minAt, line.at)
    chunk.maxAt = Math.max(chunk.maxAt, line.at)
    chunk.levels |= levelBit(line.level)
  }
  const header = Buffer.from(JSON.stringify(headerOf(lines)))
  return { ...chunk, bytes: body.length + lines.length * LINE_OVERHEAD_BYTES, header: pack(header), body: pack(body) }
}

export const gramsOf = (lines: readonly LogLine[]): Uint8Array =>
  packGrams(fold(lines.map((line) => line.message).join(SEPARATOR)), new Set(lines.map((line) => line.instance)))

const levelBit = (level: LogLevel): number => 1 << logLevels.indexOf(level)

export function decodeChunk(stream: StreamKey, header: Uint8Array, body: Uint8Array): LogLine[] {
  return linesOf(stream, header, unpackText(body))
}

export function searchChunk(stream: StreamKey, packed: { header: Uint8Array; body: Uint8Array }, test: LineTest): LogLine[] {
  const text = unpackText(packed.body)
  if (test.terms.length > 0) {
    const folded = fold(text)
    if (!test.terms.every((term) => folded.includes(term))) return []
  }
  return linesOf(stream, packed.header, text).filter((line) => matches(line, test))
}

function headerOf(lines: readonly LogLine[]): Header {
  const header: Header = { seqs: [], ats: [], from: [], origins: [], levels: [] }
  const known = new Map<string, number>()
  let seq = 0
  let at = 0
  for (const [index, line] of lines.entries()) {
    const originKey = `${line.instance}\n${line.deployId ?? ''}`
    let origin = known.get(originKey)
    if (origin === undefined) {
      origin = header.origins.push([line.instance, line.deployId ?? null]) - 1
      known.set(originKey, origin)
    }
    header.seqs.push(line.seq - seq)
    header.ats.push(line.at - at)
    header.from.push(origin)
    header.levels.push(logLevels.indexOf(line.level))
    if (line.labels !== undefined) {
      header.labels ??= {}
      header.labels[index] = line.labels
    }
    seq = line.seq
    at = line.at
  }
  return header
}

function linesOf(stream: StreamKey, packedHeader: Uint8Array, text: string): LogLine[] {
  const header = JSON.parse(unpackText(packedHeader)) as Header
  let seq = 0
  let at = 0
  return text.split(SEPARATOR).map((message, index) => {
    seq += header.seqs[index] ?? 0
    at += header.ats[index] ?? 0
    const [instance, deployId] = header.origins[header.from[index] ?? 0] ?? ['', null]
    const level = logLevels[header.levels[index] ?? 1] ?? 'info'
    const labels = header.labels?.[index]
    const line: LogLine = { seq, at, resource: stream.resource, instance, type: stream.type, level, message }
    if (deployId !== null) line.deployId = deployId
    if (labels !== undefined) line.labels = labels
    return line
  })
}

const pack = (bytes: Uint8Array): Uint8Array => (bytes.length > PACK_OVER_BYTES ? Bun.zstdCompressSync(bytes, { level: 1 }) : bytes)

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Packed bytes begin with zstd's magic number, whose second byte (0xB5 after an ASCII character) cannot occur there in UTF-8. */
function unpackText(bytes: Uint8Array): string {
  const isPacked = bytes[0] === 0x28 && bytes[1] === 0xb5 && bytes[2] === 0x2f && bytes[3] === 0xfd
  return decoder.decode(isPacked ? Bun.zstdDecompressSync(bytes) : bytes)
}
