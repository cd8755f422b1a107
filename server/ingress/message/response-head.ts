import { BadMessage } from './bad-message.ts'
import { CR, isValueCode, LF, skipWhile } from './characters.ts'
import { type Field, fieldLinesOf, scanFieldLines } from './field-lines.ts'
import { type Framing, NO_BODY, readControls } from './framing.ts'

export class ResponseHead {
  readonly text: string
  readonly status: number
  readonly minorVersion: 0 | 1
  readonly notable: readonly Field[]
  readonly framing: Framing
  readonly connection: readonly string[]
  readonly isKeepAlive: boolean
  readonly linesFrom: number
  readonly #reasonFrom: number
  #fields: readonly Field[] | undefined

  constructor(text: string, line: StatusLine, { method, maxFields }: { method: string; maxFields: number }) {
    const notable = scanFieldLines(text, line.end, maxFields)
    const { framing, connection } = readControls(notable, line.minorVersion)
    const actual = bodyFraming(framing, line.status, method)
    this.text = text
    this.status = line.status
    this.minorVersion = line.minorVersion
    this.notable = notable
    this.framing = actual
    this.connection = connection
    this.isKeepAlive =
      actual.kind !== 'until-close' && (line.minorVersion === 1 ? !connection.includes('close') : connection.includes('keep-alive'))
    this.linesFrom = line.end
    this.#reasonFrom = line.reasonFrom
  }

  get isPlain(): boolean {
    return this.minorVersion === 1 && this.#reasonFrom > STATUS_END
  }

  get reason(): string {
    return this.text.slice(this.#reasonFrom, this.linesFrom - 2)
  }

  get fields(): readonly Field[] {
    this.#fields ??= fieldLinesOf(this.text, this.linesFrom)
    return this.#fields
  }
}

interface StatusLine {
  status: number
  minorVersion: 0 | 1
  reasonFrom: number
  end: number
}

const ZERO = '0'.charCodeAt(0)
const STATUS_START = 'HTTP/1.1 '.length
const STATUS_END = 'HTTP/1.1 200'.length

export function parseResponseHead(head: string, method: string, maxFields: number): ResponseHead {
  return new ResponseHead(head, parseStatusLine(head), { method, maxFields })
}

function parseStatusLine(head: string): StatusLine {
  const minorVersion = minorVersionOf(head)
  const status = statusOf(head)
  const reasonStart = head[STATUS_END] === ' ' ? STATUS_END + 1 : STATUS_END
  const reasonEnd = skipWhile(head, reasonStart, isValueCode)
  const isLineEnd = head.charCodeAt(reasonEnd) === CR && head.charCodeAt(reasonEnd + 1) === LF
  // A reason may be missing, and with it the space before it, which strictly belongs to every status line.
  if (!isLineEnd || (reasonStart === STATUS_END && reasonEnd > STATUS_END)) throw malformed()
  return { status, minorVersion, reasonFrom: reasonStart, end: reasonEnd + 2 }
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
