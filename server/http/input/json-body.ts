import { AppError } from '../../../shared/error.ts'

export const DEFAULT_MAX_BODY_BYTES = 1024 * 1024
export const BODY_DEADLINE_MS = 30_000
const MAX_DEPTH = 64

export interface BodyLimits {
  maxBytes: number
  deadlineMs: number
}

/** @throws AppError `unsupported_media_type`, `payload_too_large`, or `bad_request` for what is no JSON, too deep or too slow. */
export async function readJsonBody(request: Request, limits: BodyLimits): Promise<unknown> {
  if (request.body === null || request.headers.get('content-length') === '0') return undefined
  const bytes = await readBounded(request, limits)
  if (bytes.length === 0) return undefined
  requireJson(request.headers.get('content-type'))
  return parseJson(bytes)
}

export function parseJson(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes)
  if (isDeeperThan(text, MAX_DEPTH)) throw new AppError('bad_request', `The JSON is nested deeper than ${MAX_DEPTH} levels.`)
  try {
    return JSON.parse(text)
  } catch {
    throw new AppError('bad_request', 'The body is not valid JSON.')
  }
}

/** Reads the text, so that a hostile body never gets to build objects. */
export function isDeeperThan(text: string, max: number): boolean {
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) index = endOfString(text, index)
    else depth += nesting.get(code) ?? 0
    if (depth > max) return true
  }
  return false
}

const QUOTE = 34
const BACKSLASH = 92
const nesting: ReadonlyMap<number, number> = new Map([
  ['['.charCodeAt(0), 1],
  ['{'.charCodeAt(0), 1],
  [']'.charCodeAt(0), -1],
  ['}'.charCodeAt(0), -1],
])

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++
    if (escapes % 2 === 0) return end
  }
  return text.length
}

function requireJson(contentType: string | null): void {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';')
  const charset = parameters.map((part) => part.trim()).find((part) => part.startsWith('charset='))
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset)
  if (type.trim() !== 'application/json' || !isUtf8) {
    throw new AppError('unsupported_media_type', 'Send the body as Content-Type: application/json in UTF-8.')
  }
}

/** @throws AppError `payload_too_large` beyond the limit, `bad_request` for a body that is cut off or too slow. */
export async function readBounded(request: Request, { maxBytes, deadlineMs }: BodyLimits): Promise<Uint8Array> {
  const tooLarge = () => new AppError('payload_too_large', `The body is larger than the ${maxBytes} bytes accepted here.`)
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge()
  const reader = (request.body as ReadableStream<Uint8Array>).getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    reader.cancel().catch(() => {})
  }, deadlineMs)
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.length
      if (size > maxBytes) throw tooLarge()
      chunks.push(part.value)
    }
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError('bad_request', 'The body was cut off before its end; send it again.', { cause })
  } finally {
    clearTimeout(timer)
    if (size > maxBytes) reader.cancel().catch(() => {})
  }
  if (isLate) throw new AppError('bad_request', `The body did not arrive within ${deadlineMs / 1000} s.`)
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
}

export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new AppError('bad_request', 'The body is not valid UTF-8.')
  }
}
