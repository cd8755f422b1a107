import { BadMessage } from './bad-message.ts'
import { isTargetCode, isTokenCode, skipWhile } from './characters.ts'
import { type Field, parseFieldLines } from './field-lines.ts'
import { type Framing, NO_BODY, readControls } from './framing.ts'
import { parseHost } from './host.ts'

export interface RequestHead {
  /** All of it, as it was sent. */
  text: string
  method: string
  /** In origin form, or `*`. */
  target: string
  minorVersion: 0 | 1
  /** The route table's key. */
  host: string
  /** As it was sent. */
  hostHeader: string
  hostPort: number | undefined
  fields: Field[]
  framing: Framing
  /** Members of Connection, in lower case. */
  connection: readonly string[]
  isKeepAlive: boolean
  /** The protocol the client asks to change to. */
  upgrade: string | undefined
}

export interface HeadLimits {
  maxFields: number
  maxTargetBytes: number
}

/**
 * Parses one request head, read as latin1 and ending with its empty line. Strict: it throws BadMessage for whatever another server
 * might read differently, and changes nothing.
 */
export function parseRequestHead(head: string, limits: HeadLimits): RequestHead {
  const line = parseRequestLine(head, limits)
  const fields = parseFieldLines(head, line.end, limits.maxFields)
  const { framing, connection } = readControls(fields, line.minorVersion)
  const hostHeader = hostOf(fields)
  const parsed = parseHost(hostHeader)
  if (parsed === undefined) throw new BadMessage(400, 'Host is not a host name')
  return {
    text: head,
    method: line.method,
    target: line.target,
    minorVersion: line.minorVersion,
    host: parsed.host,
    hostHeader,
    hostPort: parsed.port,
    fields,
    framing: isEmpty(framing) ? NO_BODY : framing,
    connection,
    isKeepAlive: line.minorVersion === 1 ? !connection.includes('close') : connection.includes('keep-alive'),
    upgrade: upgradeOf(line.minorVersion, fields, connection, framing),
  }
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
  target: string
  minorVersion: 0 | 1
  /** Where the field lines begin. */
  end: number
}

function parseRequestLine(head: string, limits: HeadLimits): RequestLine {
  const methodEnd = skipWhile(head, 0, isTokenCode)
  if (methodEnd === 0 || head[methodEnd] !== ' ') throw new BadMessage(400, 'the request line has no method')
  const targetEnd = skipWhile(head, methodEnd + 1, isTargetCode)
  const method = head.slice(0, methodEnd)
  const target = head.slice(methodEnd + 1, targetEnd)
  if (target.length > limits.maxTargetBytes) throw new BadMessage(414, `the request target is longer than ${limits.maxTargetBytes} bytes`)
  const end = targetEnd + ' HTTP/1.1\r\n'.length
  const version = head.slice(targetEnd, end)
  if (version !== ' HTTP/1.1\r\n' && version !== ' HTTP/1.0\r\n') throw wrongVersion(version)
  refuseTarget(method, target)
  return { method, target, minorVersion: version === ' HTTP/1.1\r\n' ? 1 : 0, end }
}

function wrongVersion(version: string): BadMessage {
  if (/^ HTTP\/\d\.\d\r\n$/.test(version)) return new BadMessage(505, 'only HTTP/1.1 and HTTP/1.0 are spoken here')
  return new BadMessage(400, 'the request line is malformed')
}

function refuseTarget(method: string, target: string): void {
  if (method === 'CONNECT' || method === 'TRACE') throw new BadMessage(405, `${method} is not served here`)
  if (target.startsWith('/') || (target === '*' && method === 'OPTIONS')) return
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
