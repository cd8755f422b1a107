import { ingressProofHeader } from '../../../shared/forwarded-client.ts'
import type { Field } from './field-lines.ts'
import { namesOtherFields } from './framing.ts'
import { type HeadWriter, NONE_DROPPED, writeKept } from './kept-lines.ts'
import type { KnownName } from './known-names.ts'
import { fieldValue, type RequestHead } from './request-head.ts'

export interface RequestSource {
  address: string
  isTrusted: boolean
  scheme: 'http' | 'https'
}

export class RequestOrigin {
  readonly #source: RequestSource
  #host: string | undefined
  #lines = ''

  constructor(source: RequestSource) {
    this.#source = source
  }

  get isTrusted(): boolean {
    return this.#source.isTrusted
  }

  linesFor(head: RequestHead): string {
    if (this.#source.isTrusted) return forwardedLines(head, this.#source)
    if (this.#host !== head.hostHeader) {
      this.#host = head.hostHeader
      this.#lines = forwardedLines(head, this.#source)
    }
    return this.#lines
  }
}

/** Between two neighbours only (RFC 9110 section 7.6.1). Transfer-Encoding is one too, but the body goes on as it came. */
const hopByHop = new Set<string>([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'proxy-authenticate',
  'te',
  'upgrade',
])

const replaced = new Set<KnownName>(['x-forwarded-for', 'x-request-id'])
const FORWARDED_PREFIX = 'x-forwarded-'
const UNDERSCORE = '_'.charCodeAt(0)

const defaultPort = { http: 80, https: 443 } as const

export function forwardRequest(
  out: HeadWriter,
  head: RequestHead,
  { origin, requestId, proof }: { origin: RequestOrigin; requestId: string; proof?: string | undefined },
): void {
  const { isTrusted } = origin
  const isPlain = head.minorVersion === 1
  if (!isPlain) out.writeHead(`${head.method} ${head.target} HTTP/1.1\r\n`)
  writeKept(out, { text: head.text, from: isPlain ? 0 : head.linesFrom, dropped: droppedOf(head, isTrusted) })
  out.writeHead(origin.linesFor(head))
  if (proof !== undefined) out.writeHead(`${ingressProofHeader}: ${proof}\r\n`)
  if (head.upgrade !== undefined) out.writeHead(`Connection: Upgrade\r\nUpgrade: ${head.upgrade}\r\n`)
  if (acceptsTrailers(head.notable)) out.writeHead('Connection: TE\r\nTE: trailers\r\n')
  out.writeHead(`X-Request-Id: ${requestId}\r\n\r\n`)
}

/** The client's own request id where it is harmless, else a new one; `notable` are the notable fields of the request. */
export function requestIdOf(notable: readonly Field[]): string {
  const given = fieldValue(notable, 'x-request-id')
  return given !== undefined && /^[\w.=:+/-]{8,128}$/.test(given) ? given : newRequestId()
}

/** A request id is a UUID whose last digits are counted: as unique, without asking for random bytes each time. */
const COUNTED_DIGITS = 7
const FIRST_COUNT = 16 ** (COUNTED_DIGITS - 1)
const END_OF_COUNT = 16 ** COUNTED_DIGITS
let idPrefix = ''
let idCount = END_OF_COUNT

function newRequestId(): string {
  if (idCount === END_OF_COUNT) {
    idPrefix = crypto.randomUUID().slice(0, -COUNTED_DIGITS)
    idCount = FIRST_COUNT
  }
  return idPrefix + (idCount++).toString(16)
}

function droppedOf(head: RequestHead, isTrusted: boolean): readonly Field[] {
  let dropped: Field[] | undefined
  // Only a line that Connection names may have any name.
  for (const field of namesOtherFields(head.connection) ? head.fields : head.notable) {
    if (!isDropped(field, head, isTrusted)) continue
    dropped ??= []
    dropped.push(field)
  }
  return dropped ?? NONE_DROPPED
}

function isDropped(field: Field, head: RequestHead, isTrusted: boolean): boolean {
  const { known } = field
  if (known !== undefined && (replaced.has(known) || hopByHop.has(known))) return true
  if (field.isIn(head.connection)) return true
  if (!isTrusted && (known === 'forwarded' || known === 'x-real-ip' || field.nameBeginsWith(FORWARDED_PREFIX))) return true
  return field.nameHas(UNDERSCORE) && isTwinOfReserved(field.name.replaceAll('_', '-'))
}

function isForwardedClaim(name: string): boolean {
  return name.startsWith(FORWARDED_PREFIX) || name === 'forwarded' || name === 'x-real-ip'
}

/** CGI and WSGI applications read `X_Forwarded_For` as `X-Forwarded-For`, so such a twin could pass for the real one. */
function isTwinOfReserved(hyphenated: string): boolean {
  const isFraming = hyphenated === 'content-length' || hyphenated === 'transfer-encoding' || hyphenated === 'host'
  return isFraming || isForwardedClaim(hyphenated) || hyphenated === 'x-request-id' || hopByHop.has(hyphenated)
}

function forwardedLines(head: RequestHead, origin: RequestSource): string {
  // What a client has Connection name is dropped, also behind a proxy that let it through: it must not leave a gap.
  const claimed = (name: string) => origin.isTrusted && !head.connection.includes(name) && head.notable.some((field) => field.is(name))
  const chain = origin.isTrusted ? fieldValue(head.notable, 'x-forwarded-for') : undefined
  let lines = `X-Forwarded-For: ${chain === undefined ? '' : `${chain}, `}${origin.address}\r\n`
  if (!claimed('x-forwarded-proto')) lines += `X-Forwarded-Proto: ${origin.scheme}\r\n`
  if (!claimed('x-forwarded-host')) lines += `X-Forwarded-Host: ${head.hostHeader}\r\n`
  if (!claimed('x-forwarded-port')) lines += `X-Forwarded-Port: ${head.hostPort ?? defaultPort[origin.scheme]}\r\n`
  return lines
}

function acceptsTrailers(notable: readonly Field[]): boolean {
  for (const field of notable) if (field.known === 'te' && field.value.toLowerCase().includes('trailers')) return true
  return false
}
