import { BadMessage } from './bad-message.ts'
import { isTargetCode, isTokenCode, skipWhile } from './characters.ts'
import { type Field, fieldLinesOf, scanFieldLines } from './field-lines.ts'
import { type Framing, NO_BODY, readControls } from './framing.ts'
import { parseHost } from './host.ts'

export class RequestHead {
  readonly text: string
  readonly method: string
  readonly minorVersion: 0 | 1
  readonly host: string
  readonly hostHeader: string
  readonly hostPort: number | undefined
  readonly notable: readonly Field[]
  readonly framing: Framing
  readonly connection: readonly string[]
  readonly isKeepAlive: boolean
  readonly upgrade: string | undefined
  readonly #line: RequestLine
  #fields: readonly Field[] | undefined

  constructor(text: string, line: RequestLine, maxFields: number) {
    const notable = scanFieldLines(text, line.end, maxFields)
    const { framing, connection } = readControls(notable, line.minorVersion)
    const hostHeader = hostOf(notable)
    const parsed = parseHost(hostHeader)
    if (parsed === undefined) throw new BadMessage(400, 'Host is not a host name')
    this.text = text
    this.#line = line
    this.method = line.method
    this.minorVersion = line.minorVersion
    this.host = parsed.host
    this.hostHeader = hostHeader
    this.hostPort = parsed.port
    this.notable = notable
    this.framing = isEmpty(framing) ? NO_BODY : framing
    this.connection = connection
    this.isKeepAlive = line.minorVersion === 1 ? !connection.includes('close') : connection.includes('keep-alive')
    this.upgrade = upgradeOf(line.minorVersion, notable, connection, framing)
  }

  get target(): string {
    return this.text.slice(this.#line.targetFrom, this.#line.targetTo)
  }

  get linesFrom(): number {
    return this.#line.end
  }

  get fields(): readonly Field[] {
    this.#fields ??= fieldLinesOf(this.text, this.#line.end)
    return this.#fields
  }
}

export interface HeadLimits {
  maxFields: number
  maxTargetBytes: number
}

/** Parses a head with its empty line, read as latin1. Throws BadMessage for whatever another server might read differently; changes nothing. */
export function parseRequestHead(head: string, limits: HeadLimits): RequestHead {
  return new RequestHead(head, parseRequestLine(head, limits), limits.maxFields)
}

/** The value of the only field of that name, given in lower case; undefined when it is absent. Repeated ones are joined as RFC 9110 section 5.3 allows. */
export function fieldValue(fields: readonly Field[], name: string): string | undefined {
  let found: string | undefined
  for (const field of fields) if (field.is(name)) found = found === undefined ? field.value : `${found}, ${field.value}`
  return found
}

function isEmpty(framing: Framing): boolean {
  return framing.kind === 'length' && framing.bytes === 0
}

interface RequestLine {
  method: string
  targetFrom: number
  targetTo: number
  minorVersion: 0 | 1
  end: number
}

function parseRequestLine(head: string, limits: HeadLimits): RequestLine {
  const methodEnd = skipWhile(head, 0, isTokenCode)
  if (methodEnd === 0 || head[methodEnd] !== ' ') throw new BadMessage(400, 'the request line has no method')
  const targetEnd = skipWhile(head, methodEnd + 1, isTargetCode)
  const method = methodOf(head, methodEnd)
  const targetFrom = methodEnd + 1
  if (targetEnd - targetFrom > limits.maxTargetBytes)
    throw new BadMessage(414, `the request target is longer than ${limits.maxTargetBytes} bytes`)
  const end = targetEnd + ' HTTP/1.1\r\n'.length
  const isCurrent = head.startsWith(' HTTP/1.1\r\n', targetEnd)
  if (!isCurrent && !head.startsWith(' HTTP/1.0\r\n', targetEnd)) throw wrongVersion(head.slice(targetEnd, end))
  refuseTarget(method, head, { from: targetFrom, to: targetEnd })
  return { method, targetFrom, targetTo: targetEnd, minorVersion: isCurrent ? 1 : 0, end }
}

function methodOf(head: string, end: number): string {
  return end === 3 && head.startsWith('GET') ? 'GET' : head.slice(0, end)
}

function wrongVersion(version: string): BadMessage {
  if (/^ HTTP\/\d\.\d\r\n$/.test(version)) return new BadMessage(505, 'only HTTP/1.1 and HTTP/1.0 are spoken here')
  return new BadMessage(400, 'the request line is malformed')
}

const SLASH = '/'.charCodeAt(0)
const ASTERISK = '*'.charCodeAt(0)

function refuseTarget(method: string, head: string, { from, to }: { from: number; to: number }): void {
  if (method === 'CONNECT' || method === 'TRACE') throw new BadMessage(405, `${method} is not served here`)
  const first = to > from ? head.charCodeAt(from) : 0
  if (first === SLASH || (first === ASTERISK && to === from + 1 && method === 'OPTIONS')) return
  throw new BadMessage(400, 'the request target does not begin with /')
}

function hostOf(fields: readonly Field[]): string {
  let host: Field | undefined
  for (const field of fields) {
    if (field.known !== 'host') continue
    if (host !== undefined) throw new BadMessage(400, 'Host is repeated')
    host = field
  }
  if (host === undefined) throw new BadMessage(400, 'Host is missing')
  return host.value
}

/** h2c is not passed on: requests inside of it would get past every rule of this proxy. */
function upgradeOf(minorVersion: number, fields: readonly Field[], connection: readonly string[], framing: Framing): string | undefined {
  if (minorVersion === 0 || framing.kind !== 'none' || !connection.includes('upgrade')) return undefined
  const value = fieldValue(fields, 'upgrade')
  return value === undefined || value === '' || value.toLowerCase().includes('h2c') ? undefined : value
}
