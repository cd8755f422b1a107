import type { Field } from '../message/field-lines.ts'
import { passesToClient } from '../message/forward-response.ts'
import type { Header, LocalHead } from '../message/header.ts'
import { httpDate } from '../message/http-date.ts'
import type { ResponseHead } from '../message/response-head.ts'
import { BlockCache } from './block-cache.ts'
import { HpackEncoder } from './hpack-encoder.ts'

/** One for all connections: no block depends on the one before, and each is copied into its frame at once. */
const encoder = new HpackEncoder()

const encoded = new BlockCache()

export function encodeResponse(head: ResponseHead, headers: readonly Header[]): HpackEncoder {
  encoder.begin()
  const known = headers.length === 0 ? encoded.get(head.text) : undefined
  if (known === undefined) encodeHead(head, headers)
  else encoder.append(known)
  putHeaders(headers)
  if (head.status >= 200 && !head.notable.some(isDate)) encoder.field('date', httpDate())
  return encoder
}

function encodeHead(head: ResponseHead, headers: readonly Header[]): void {
  let isKept = headers.length === 0
  encoder.status(head.status)
  const hasLength = head.status >= 200 && head.status !== 204
  for (const field of head.fields) {
    const passes = isFraming(field) ? hasLength && field.known === 'content-length' : passesToClient(field, head, headers)
    if (passes) encoder.field(field.name, field.value)
    // Cookies differ each time, and are nobody else's concern.
    if (field.is('set-cookie')) isKept = false
  }
  if (isKept) encoded.keep(head.text, encoder.bytes, encoder.length)
}

/** An instance's agreement to a WebSocket: what is 101 there is 200 here (RFC 8441 section 5). */
export function encodeAgreement(head: ResponseHead): HpackEncoder {
  encoder.begin()
  encoder.status(200)
  for (const field of head.fields) {
    const isOfHandshake = isFraming(field) || field.is('sec-websocket-accept')
    if (!isOfHandshake && passesToClient(field, head, [])) encoder.field(field.name, field.value)
  }
  return encoder
}

export function encodeLocal({ status, headers, lengthBytes }: LocalHead, requestId: string): HpackEncoder {
  encoder.begin()
  encoder.status(status)
  encoder.field('date', httpDate())
  putHeaders(headers)
  if (lengthBytes !== undefined) encoder.field('content-length', String(lengthBytes))
  encoder.field('x-request-id', requestId)
  return encoder
}

export function encodeTrailers(fields: readonly Field[]): HpackEncoder {
  encoder.begin()
  for (const field of fields) encoder.field(field.name, field.value)
  return encoder
}

function isFraming({ known }: Field): boolean {
  return known === 'content-length' || known === 'transfer-encoding'
}

function isDate({ known }: Field): boolean {
  return known === 'date'
}

function putHeaders(headers: readonly Header[]): void {
  for (const [name, value] of headers) encoder.field(name.toLowerCase(), value)
}
