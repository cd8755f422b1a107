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

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5][0-9]{2})(?: |(?=\r\n))/

/** Parses one response head, read as latin1 and ending with its empty line; `method` is that of the request it answers. */
export function parseResponseHead(head: string, method: string, maxFields: number): ResponseHead {
  const match = STATUS_LINE.exec(head)
  if (match === null) throw new BadMessage(502, 'the status line is malformed')
  const reasonEnd = skipWhile(head, match[0].length, isValueCode)
  if (head.charCodeAt(reasonEnd) !== CR || head.charCodeAt(reasonEnd + 1) !== LF) throw new BadMessage(502, 'the status line is malformed')
  const status = Number(match[2])
  const minorVersion = match[1] === '1' ? 1 : 0
  const fields = parseFieldLines(head, reasonEnd + 2, maxFields)
  const { framing, connection } = readControls(fields, minorVersion)
  const actual = bodyFraming(framing, status, method)
  return {
    text: head,
    status,
    reason: head.slice(match[0].length, reasonEnd),
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
