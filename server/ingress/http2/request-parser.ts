import { BadMessage } from '../message/bad-message.ts'
import { type HeadLimits, parseRequestHead, type RequestHead } from '../message/request-head.ts'
import { malformed } from './field-reading.ts'
import type { HeaderField } from './header-field.ts'
import { type RequestFields, readRequestFields } from './request-fields.ts'

export interface ParsedRequest {
  head: RequestHead
  websocketKey: string | undefined
}

const KEY_BYTES = 16

/** Has the fields parsed as the HTTP/1 head they mean, so that there is one reading of every request. A repeated request is not parsed again. */
export class RequestParser {
  readonly #limits: HeadLimits
  #fields: readonly HeaderField[] = []
  #isWhole = false
  #parsed: ParsedRequest | undefined

  constructor(limits: HeadLimits) {
    this.#limits = limits
  }

  parse(fields: readonly HeaderField[], isWhole: boolean): ParsedRequest {
    if (this.#parsed !== undefined && isWhole === this.#isWhole && areSame(fields, this.#fields)) return this.#parsed
    const parsed = this.#parse(readRequestFields(fields), isWhole)
    this.#fields = fields
    this.#isWhole = isWhole
    // A key is for one handshake.
    this.#parsed = parsed.websocketKey === undefined ? parsed : undefined
    return parsed
  }

  #parse(request: RequestFields, isWhole: boolean): ParsedRequest {
    if (request.protocol !== undefined) return this.#parseTunnel(request, isWhole)
    const { method, path, authority, lines, hasLength } = request
    const target = path ?? authority ?? ''
    const framing = isWhole || hasLength ? '' : 'transfer-encoding: chunked\r\n'
    const head = parseRequestHead(`${method} ${target} HTTP/1.1\r\n${hostLine(authority)}${lines}${framing}\r\n`, this.#limits)
    if (isWhole && head.framing.kind !== 'none') throw malformed('content-length is given for a request without a body')
    return { head, websocketKey: undefined }
  }

  /** RFC 8441 section 5: what is CONNECT here is the GET with an Upgrade there. */
  #parseTunnel({ protocol, path, authority, lines, hasLength }: RequestFields, isWhole: boolean): ParsedRequest {
    if (protocol !== 'websocket') throw new BadMessage(501, `the protocol ${protocol} is not spoken here`)
    if (isWhole || hasLength) throw malformed('a WebSocket cannot end or have a length before it begins')
    const websocketKey = crypto.getRandomValues(Buffer.allocUnsafe(KEY_BYTES)).toString('base64')
    const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: ${websocketKey}\r\n`
    return { head: parseRequestHead(`GET ${path} HTTP/1.1\r\n${hostLine(authority)}${upgrade}${lines}\r\n`, this.#limits), websocketKey }
  }
}

function hostLine(authority: string | undefined): string {
  return authority === undefined ? '' : `host: ${authority}\r\n`
}

function areSame(fields: readonly HeaderField[], others: readonly HeaderField[]): boolean {
  if (fields.length !== others.length) return false
  for (let at = 0; at < fields.length; at++) if (fields[at] !== others[at]) return false
  return true
}
