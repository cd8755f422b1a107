import type { Header } from '../exchange.ts'
import type { Field } from './field-lines.ts'
import { linesKept } from './kept-lines.ts'
import type { KnownName } from './known-names.ts'
import { isBodyless, type ResponseHead } from './response-head.ts'

export interface ResponseForwarding {
  /** Of the client that is answered. */
  minorVersion: 0 | 1
  /** Of the request that is answered. */
  method: string
  /** Whether the client may send another request on this connection. */
  isKeptAlive: boolean
  /** Take the place of the upstream's of the same name. */
  headers: readonly Header[]
}

const hopByHop = new Set<KnownName>(['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'te', 'upgrade'])

/** The head as the client gets it. An HTTP/1.0 client knows no chunks: it gets their payload, and the end of the connection as its end. */
export function forwardedResponse(head: ResponseHead, { minorVersion, method, isKeptAlive, headers }: ResponseForwarding): string {
  const hasLength = head.status >= 200 && head.status !== 204
  const hasCoding = minorVersion === 1 && !isBodyless(head.status, method)
  const lines = linesKept(head, (field) => {
    if (field.known === 'content-length') return hasLength
    if (field.known === 'transfer-encoding') return hasCoding
    return !isHopByHop(field, head.connection) && !isReplaced(field, headers)
  })
  const ours = head.status >= 200 ? connectionLine(minorVersion, isKeptAlive) : ''
  return `${statusLine(head)}${lines}${headerLines(headers)}${ours}\r\n`
}

/** The answer to an accepted change of protocol. */
export function forwardedSwitch(head: ResponseHead): string {
  const lines = linesKept(head, ({ known }) => known !== 'connection' && known !== 'content-length' && known !== 'transfer-encoding')
  return `${statusLine(head)}${lines}Connection: Upgrade\r\n\r\n`
}

/** What an answer says of the connection; nothing where the version's default holds. */
export function connectionLine(minorVersion: 0 | 1, isKeptAlive: boolean): string {
  if (minorVersion === 1) return isKeptAlive ? '' : 'Connection: close\r\n'
  return isKeptAlive ? 'Connection: keep-alive\r\n' : ''
}

function isHopByHop(field: Field, connection: readonly string[]): boolean {
  return (field.known !== undefined && hopByHop.has(field.known)) || field.isIn(connection)
}

function isReplaced(field: Field, headers: readonly Header[]): boolean {
  for (const [name] of headers) if (field.is(name.toLowerCase())) return true
  return false
}

function headerLines(headers: readonly Header[]): string {
  let lines = ''
  for (const [name, value] of headers) lines += `${name}: ${value}\r\n`
  return lines
}

function statusLine(head: ResponseHead): string {
  return `HTTP/1.1 ${head.status} ${head.reason}\r\n`
}
