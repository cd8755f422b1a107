import { isTokenCode, isValueCode, skipWhile, tableOf } from '../message/characters.ts'
import type { FieldKind, FieldReading, HeaderField } from './header-field.ts'
import { ErrorCode, StreamError } from './http2-error.ts'

const [UPPER_A, UPPER_Z, COLON, SPACE, TAB] = [65, 90, 58, 32, 9]
const isNameCode = tableOf((code) => isTokenCode[code] === 1 && !(code >= UPPER_A && code <= UPPER_Z))

/** Fields of one connection of HTTP/1 (RFC 9113 section 8.2.2) or, the key, of its handshake of WebSockets. */
const forbidden = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'sec-websocket-key'])

const kinds: Record<string, FieldKind> = { host: 'host', cookie: 'cookie', 'content-length': 'content-length' }
const kindOfName: ReadonlyMap<string, FieldKind> = new Map(Object.entries(kinds))

/** What a field of a request is, found out once. Throws StreamError for one that may not stand in any message (RFC 9113 section 8.2.1). */
export function readingOf(field: HeaderField): FieldReading {
  field.reading ??= read(field)
  return field.reading
}

export function malformed(message: string): StreamError {
  return new StreamError(ErrorCode.protocolError, message)
}

function read({ name, value }: HeaderField): FieldReading {
  if (name.charCodeAt(0) === COLON) return { kind: 'pseudo', line: '' }
  if (name === '' || skipWhile(name, 0, isNameCode) !== name.length) throw malformed('a field has no valid name')
  if (skipWhile(value, 0, isValueCode) !== value.length || isBlankAt(value, 0) || isBlankAt(value, value.length - 1)) {
    throw malformed(`the value of ${name} holds a character that is not allowed there`)
  }
  if (forbidden.has(name)) throw malformed(`${name} has no place in HTTP/2`)
  if (name === 'te' && value !== 'trailers') throw malformed('TE may only be "trailers"')
  return { kind: kindOfName.get(name) ?? 'plain', line: `${name}: ${value}\r\n` }
}

function isBlankAt(value: string, at: number): boolean {
  const code = value.charCodeAt(at)
  return code === SPACE || code === TAB
}
