import { BadMessage } from './bad-message.ts'
import { CR, isValueCode, LF, skipWhile } from './characters.ts'
import { type Field, parseFieldLines } from './field-lines.ts'
import { type Framing, NO_BODY, readControls } from './framing.ts'

export interface ResponseHead {
  /** All of it, as it was sent. */
  text: string
  status: number
  reason: string
  minorVersion: 0 | 1
  fields: Field[]
  framing: Framing
  connection: readonly string[]
  /** Whether the upstream will take another request on this connection. */
  isKeepAlive: boolean
}

const ZERO = '0'.charCodeAt(0)
const STATUS_START = 'HTTP/1.1 '.length
const STATUS_END = 'HTTP/1.1 200'.length

/** Parses one response head, read as latin1 and ending with its empty line; `method` is that of the request it answers. */
export function parseResponseHead(head: string, method: string, maxFields: number): ResponseHead {
  const minorVersion = minorVersionOf(head)
  const status = statusOf(head)
  const reasonStart = head[STATUS_END] === ' ' ? STATUS_END + 1 : STATUS_END
  const reasonEnd = skipWhile(head, reasonStart, isValueCode)
  const isLineEnd = head.charCodeAt(reasonEnd) === CR && head.charCodeAt(reasonEnd + 1) === LF
  // A reason may be missing, and with it the space before it, which strictly belongs to every status line.
  if (!isLineEnd || (reasonStart === STATUS_END && reasonEnd > STATUS_END)) throw malformed()
  const fields = parseFieldLines(head, reasonEnd + 2, maxFields)
  const { framing, connection } = readControls(fields, minorVersion)
  const actual = bodyFraming(framing, status, method)
  return {
    text: head,
    status,
    reason: head.slice(reasonStart, reasonEnd),
    minorVersion,
    fields,
    framing: actual,
    connection,
    isKeepAlive: actual.kind !== 'until-close' && (minorVersion === 1 ? !connection.includes('close') : connection.includes('keep-alive')),
  }
}

/** Whether the message has no body whatever its fields say (RFC 9112 section 6.3). */
export function isBodyless(status: number, method: string): boolean {
  return method === 'HEAD' || status < 200 || status === 204 || status === 304
}

function bodyFraming(framing: Framing, status: number, method: string): Framing {
  if (isBodyless(status, method)) return NO_BODY
  return framing.kind === 'none' ? { kind: 'until-close' } : framing
}

function minorVersionOf(head: string): 0 | 1 {
  if (head.startsWith('HTTP/1.1 ')) return 1
  if (head.startsWith('HTTP/1.0 ')) return 0
  throw malformed()
}

function statusOf(head: string): number {
  let status = 0
  for (let at = STATUS_START; at < STATUS_END; at++) {
    const digit = head.charCodeAt(at) - ZERO
    if (!(digit >= 0 && digit <= 9)) throw malformed()
    status = status * 10 + digit
  }
  if (status < 100 || status > 599) throw malformed()
  return status
}

function malformed(): BadMessage {
  return new BadMessage(502, 'the status line is malformed')
}
