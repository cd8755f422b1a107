import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'

export type Encoding = 'br' | 'zstd' | 'gzip'

export type Coding = Encoding | 'identity'

const preferred: readonly Encoding[] = ['br', 'zstd', 'gzip']

export const encodedSuffix: Record<Encoding, string> = { br: '.br', zstd: '.zst', gzip: '.gz' }

const BROTLI_QUALITY = 5
const compressors: Record<Encoding, (bytes: Buffer) => Promise<Buffer>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  zstd: (bytes) => promisify(zstdCompress)(bytes),
  gzip: (bytes) => promisify(gzip)(bytes),
}

export function compress(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  return compressors[encoding](bytes)
}

/** The encodings a client accepts, best first (RFC 9110 section 12.5.3). */
export function acceptedEncodings(header: string | undefined): Encoding[] {
  if (header === undefined) return []
  const weights = new Map(header.toLowerCase().split(',').map(weightOf))
  const weight = (encoding: Encoding) => weights.get(encoding) ?? weights.get('*') ?? 0
  const accepted = preferred.filter((encoding) => weight(encoding) > 0)
  return accepted.sort((a, b) => weight(b) - weight(a))
}

const MAX_REMEMBERED = 256
const remembered = new Map<string | undefined, readonly Coding[]>()

export function acceptedCodings(header: string | undefined): readonly Coding[] {
  const known = remembered.get(header)
  if (known !== undefined) return known
  const codings: readonly Coding[] = [...acceptedEncodings(header), 'identity']
  if (remembered.size >= MAX_REMEMBERED) remembered.clear()
  remembered.set(header, codings)
  return codings
}

function weightOf(member: string): [string, number] {
  const [name = '', ...parameters] = member.split(';').map((part) => part.trim())
  const quality = parameters.find((parameter) => parameter.startsWith('q='))
  return [name, quality === undefined ? 1 : Number(quality.slice(2)) || 0]
}
