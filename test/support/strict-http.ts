/**
 * A second reading of HTTP/1.1, written from RFC 9112 with lines and patterns and sharing nothing with the ingress: what the ingress
 * accepts or forwards must mean the same here. It refuses more than it has to, and never guesses.
 */

export class NotStrict extends Error {}

export interface StrictField {
  /** In lower case. */
  name: string
  value: string
}

export interface StrictBody {
  framing: 'none' | 'length' | 'chunked' | 'until-close'
  /** Without its framing. */
  payload: string
  trailers: StrictField[]
}

export interface StrictRequest extends StrictBody {
  method: string
  target: string
  minorVersion: number
  host: string
  fields: StrictField[]
}

export interface StrictResponse extends StrictBody {
  status: number
  fields: StrictField[]
}

/** What was read from the start of a text, and where it ends. Undefined while more is needed. */
type Read<Message> = { message: Message; end: number } | undefined

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const requestLine = new RegExp(`^(${token}) ([!-"$-~]+) HTTP/1\\.([01])$`)
const statusLine = /^HTTP\/1\.([01]) ([1-5][0-9][0-9])(?: ([\t -~\x80-\xff]*))?$/
const fieldLine = new RegExp(`^(${token}):([\\t -~\\x80-\\xff]*)$`)
const chunkLine = /^([0-9A-Fa-f]{1,12})(?:;[\t -~\x80-\xff]*)?$/
const blanksAround = /^[ \t]+|[ \t]+$/g

/** All requests of a connection's bytes, read as latin1, and how many bytes are left behind the last whole one. */
export function readRequests(text: string): { requests: StrictRequest[]; restBytes: number } {
  const requests: StrictRequest[] = []
  let from = 0
  for (let read = readRequest(text, from); read !== undefined; read = readRequest(text, from)) {
    requests.push(read.message)
    from = read.end
  }
  return { requests, restBytes: text.length - from }
}

function readRequest(text: string, from: number): Read<StrictRequest> {
  const head = readLines(text, from)
  if (head === undefined) return undefined
  const [first = '', ...rest] = head.lines
  const match = requestLine.exec(first)
  if (match === null) throw new NotStrict(`not a request line: ${first.slice(0, 100)}`)
  const [, method = '', target = '', minor] = match
  const fields = rest.map(fieldOf)
  const hosts = valuesOf(fields, 'host')
  if (hosts.length !== 1) throw new NotStrict(`${hosts.length} hosts`)
  const body = readBody(text, head.end, framingOf(fields, Number(minor)) ?? { kind: 'none' })
  if (body === undefined) return undefined
  const message = { method, target, minorVersion: Number(minor), host: hosts[0] ?? '', fields, ...body.message }
  return { message, end: body.end }
}

/** The answer to a request of this method, behind its 1xx; undefined while it is not whole. `isClosed` tells that no more will come. */
export function readResponse(
  text: string,
  method: string,
  isClosed: boolean,
): { response: StrictResponse; interims: number; restBytes: number } | undefined {
  let from = 0
  for (let interims = 0; ; interims++) {
    const head = readLines(text, from)
    if (head === undefined) return undefined
    const [first = '', ...rest] = head.lines
    const match = statusLine.exec(first)
    if (match === null) throw new NotStrict(`not a status line: ${first.slice(0, 100)}`)
    const [status, fields] = [Number(match[2]), rest.map(fieldOf)]
    const given = framingOf(fields, Number(match[1]))
    from = head.end
    if (status < 200 && status !== 101) continue
    const isBodyless = method === 'HEAD' || status < 200 || status === 204 || status === 304
    const body = readBody(text, from, isBodyless ? { kind: 'none' } : (given ?? { kind: 'until-close', isClosed }))
    if (body === undefined) return undefined
    return { response: { status, fields, ...body.message }, interims, restBytes: text.length - body.end }
  }
}

export function valuesOf(fields: readonly StrictField[], name: string): string[] {
  return fields.filter((field) => field.name === name).map(({ value }) => value)
}

type StrictFraming = { kind: 'none' } | { kind: 'length'; bytes: number } | { kind: 'chunked' } | { kind: 'until-close'; isClosed: boolean }

function framingOf(fields: readonly StrictField[], minorVersion: number): StrictFraming | undefined {
  const lengths = valuesOf(fields, 'content-length')
  const codings = valuesOf(fields, 'transfer-encoding')
  if (lengths.length + codings.length > 1) throw new NotStrict('more than one field of framing')
  if (codings.length === 1) {
    if (minorVersion === 0 || !/^chunked$/i.test(codings[0] ?? '')) throw new NotStrict('an odd coding')
    return { kind: 'chunked' }
  }
  if (lengths.length === 0) return undefined
  if (!/^\d{1,15}$/.test(lengths[0] ?? '')) throw new NotStrict('an odd length')
  return { kind: 'length', bytes: Number.parseInt(lengths[0] ?? '', 10) }
}

function fieldOf(line: string): StrictField {
  const match = fieldLine.exec(line)
  if (match === null) throw new NotStrict(`not a field line: ${line.slice(0, 100)}`)
  const name = (match[1] ?? '').toLowerCase()
  if (/^(content-length|transfer-encoding)$/.test(name) && line.includes('\t')) throw new NotStrict('a tab in the framing')
  return { name, value: (match[2] ?? '').replace(blanksAround, '') }
}

/** The lines up to an empty one. */
function readLines(text: string, from: number): { lines: string[]; end: number } | undefined {
  const end = text.indexOf('\r\n\r\n', from)
  if (end < 0) return undefined
  const lines = text.slice(from, end).split('\r\n')
  return { lines, end: end + 4 }
}

function readBody(text: string, from: number, framing: StrictFraming): Read<StrictBody> {
  if (framing.kind === 'chunked') return readChunks(text, from)
  if (framing.kind === 'until-close') {
    return framing.isClosed ? { message: { framing: 'until-close', payload: text.slice(from), trailers: [] }, end: text.length } : undefined
  }
  const bytes = framing.kind === 'length' ? framing.bytes : 0
  if (text.length - from < bytes) return undefined
  return { message: { framing: framing.kind, payload: text.slice(from, from + bytes), trailers: [] }, end: from + bytes }
}

/** A chunked body that begins at `from`. */
export function readChunks(text: string, from: number): Read<StrictBody> {
  let payload = ''
  for (let at = from; ; ) {
    const lineEnd = text.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const match = chunkLine.exec(text.slice(at, lineEnd))
    if (match === null) throw new NotStrict('not a chunk size')
    const bytes = Number.parseInt(match[1] ?? '', 16)
    at = lineEnd + 2
    if (bytes === 0) return readTrailers(text, at, payload)
    if (text.length < at + bytes + 2) return undefined
    if (text.slice(at + bytes, at + bytes + 2) !== '\r\n') throw new NotStrict('no line end behind a chunk')
    payload += text.slice(at, at + bytes)
    at += bytes + 2
  }
}

function readTrailers(text: string, from: number, payload: string): Read<StrictBody> {
  if (text.startsWith('\r\n', from)) return { message: { framing: 'chunked', payload, trailers: [] }, end: from + 2 }
  const block = readLines(text, from)
  return block && { message: { framing: 'chunked', payload, trailers: block.lines.map(fieldOf) }, end: block.end }
}
