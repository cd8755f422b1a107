import type { Field } from './field-lines.ts'
import { linesKept } from './kept-lines.ts'
import type { KnownName } from './known-names.ts'
import { fieldValue, type RequestHead } from './request-head.ts'

/** What the upstream is told about where a request comes from. */
export interface RequestOrigin {
  /** The peer of the client connection. */
  address: string
  /** Whether that peer may speak for others: only then do forwarded headers it sends count. */
  isTrusted: boolean
  scheme: 'http' | 'https'
  requestId: string
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

/** Of these, our own lines tell what the client's told, where it counts. */
const replaced = new Set<KnownName>(['x-forwarded-for', 'x-request-id'])
const FORWARDED_PREFIX = 'x-forwarded-'
const UNDERSCORE = '_'.charCodeAt(0)

const defaultPort = { http: 80, https: 443 } as const

/** The head as the upstream gets it: the client's own lines, less what may not pass, plus where it comes from. */
export function forwardedRequest(head: RequestHead, origin: RequestOrigin): string {
  let text = `${head.method} ${head.target} HTTP/1.1\r\n`
  text += linesKept(head, (field) => !isDropped(field, head, origin.isTrusted))
  text += forwardedLines(head, origin)
  if (head.upgrade !== undefined) text += `Connection: Upgrade\r\nUpgrade: ${head.upgrade}\r\n`
  if (acceptsTrailers(head.fields)) text += 'Connection: TE\r\nTE: trailers\r\n'
  return `${text}X-Request-Id: ${origin.requestId}\r\n\r\n`
}

/** The client's own request id where it is harmless, else a new one. */
export function requestIdOf(fields: readonly Field[]): string {
  const given = fieldValue(fields, 'x-request-id')
  return given !== undefined && /^[\w.=:+/-]{8,128}$/.test(given) ? given : crypto.randomUUID()
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

function forwardedLines(head: RequestHead, origin: RequestOrigin): string {
  const claimed = (name: string) => origin.isTrusted && head.fields.some((field) => field.is(name))
  const chain = origin.isTrusted ? fieldValue(head.fields, 'x-forwarded-for') : undefined
  let lines = `X-Forwarded-For: ${chain === undefined ? '' : `${chain}, `}${origin.address}\r\n`
  if (!claimed('x-forwarded-proto')) lines += `X-Forwarded-Proto: ${origin.scheme}\r\n`
  if (!claimed('x-forwarded-host')) lines += `X-Forwarded-Host: ${head.hostHeader}\r\n`
  if (!claimed('x-forwarded-port')) lines += `X-Forwarded-Port: ${head.hostPort ?? defaultPort[origin.scheme]}\r\n`
  return lines
}

function acceptsTrailers(fields: readonly Field[]): boolean {
  return fieldValue(fields, 'te')?.toLowerCase().includes('trailers') ?? false
}
