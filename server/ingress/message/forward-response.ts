import type { Field } from './field-lines.ts'
import { namesOtherFields } from './framing.ts'
import type { Header } from './header.ts'
import { httpDate } from './http-date.ts'
import { type HeadWriter, NONE_DROPPED, writeKept } from './kept-lines.ts'
import type { KnownName } from './known-names.ts'
import { isBodyless, type ResponseHead } from './response-head.ts'

export interface ResponseForwarding {
  minorVersion: 0 | 1
  method: string
  isKeptAlive: boolean
  headers: readonly Header[]
}

const hopByHop = new Set<KnownName>(['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'te', 'upgrade'])

/** The head as the client gets it. An HTTP/1.0 client knows no chunks: it gets their payload, and the end of the connection as its end. */
export function forwardResponse(
  out: HeadWriter,
  head: ResponseHead,
  { minorVersion, method, isKeptAlive, headers }: ResponseForwarding,
): void {
  const hasCoding = minorVersion === 1 && !isBodyless(head.status, method)
  writeKept(out, { text: head.text, from: writeStatusLine(out, head), dropped: droppedOf(head, hasCoding, headers) })
  const ours = head.status >= 200 ? dateLine(head) + connectionLine(minorVersion, isKeptAlive) : ''
  out.writeHead(`${headerLines(headers)}${ours}\r\n`)
}

export function forwardSwitch(out: HeadWriter, head: ResponseHead): void {
  const dropped = head.notable.filter(({ known }) => known !== undefined && notOfASwitch.has(known))
  writeKept(out, { text: head.text, from: writeStatusLine(out, head), dropped })
  out.writeHead('Connection: Upgrade\r\n\r\n')
}

const notOfASwitch = new Set<KnownName>(['connection', 'content-length', 'transfer-encoding'])

function droppedOf(head: ResponseHead, hasCoding: boolean, headers: readonly Header[]): readonly Field[] {
  let dropped: Field[] | undefined
  for (const field of headers.length > 0 || namesOtherFields(head.connection) ? head.fields : head.notable) {
    if (isKept(field, head, hasCoding) ?? passesToClient(field, head, headers)) continue
    dropped ??= []
    dropped.push(field)
  }
  return dropped ?? NONE_DROPPED
}

function isKept({ known }: Field, { status }: ResponseHead, hasCoding: boolean): boolean | undefined {
  if (known === 'content-length') return status >= 200 && status !== 204
  return known === 'transfer-encoding' ? hasCoding : undefined
}

export function passesToClient(field: Field, { connection }: ResponseHead, headers: readonly Header[]): boolean {
  return !isHopByHop(field, connection) && !isReplaced(field, headers)
}

/** Who forwards an answer without a date gives it one (RFC 9110 section 6.6.1). */
function dateLine({ notable }: ResponseHead): string {
  for (const { known } of notable) if (known === 'date') return ''
  return `Date: ${httpDate()}\r\n`
}

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

function writeStatusLine(out: HeadWriter, head: ResponseHead): number {
  if (head.isPlain) return 0
  out.writeHead(`HTTP/1.1 ${head.status} ${head.reason}\r\n`)
  return head.linesFrom
}
