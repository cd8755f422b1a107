import { HeaderField } from '../../../server/ingress/http2/header-field.ts'
import { StreamError } from '../../../server/ingress/http2/http2-error.ts'
import { RequestParser } from '../../../server/ingress/http2/request-parser.ts'
import { BadMessage } from '../../../server/ingress/message/bad-message.ts'
import type { RequestHead } from '../../../server/ingress/message/request-head.ts'
import { forwardedRequest } from '../../support/forwarded-heads.ts'
import { readRequests, type StrictRequest } from '../../support/strict-http.ts'
import { Comparison } from '../base/comparison.ts'
import type { FuzzTarget } from '../base/target.ts'
import type { Oracle } from '../oracle/oracle.ts'
import { requestLineOf } from './request-head.ts'

const limits = { maxFields: 12, maxTargetBytes: 100 }
const origin = { address: '198.51.100.7', isTrusted: false, scheme: 'https', requestId: 'request-1' } as const
const LONGEST_BODY_BYTES = 500

/** What we add, by name. */
const ours = new Set([
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-request-id',
  'connection',
  'te',
  'transfer-encoding',
])

/** The fields of an HTTP/2 request, turned into an HTTP/1.1 head for the instance: what arrives must be those fields and nothing else. */
export function http2RequestTarget(oracles: readonly Oracle[]): FuzzTarget {
  const comparison = new Comparison(oracles)
  return {
    name: 'http2-request',
    seeds,
    dictionary,
    check(input) {
      const fields = fieldsOf(input)
      const isWhole = (input[0] ?? 0) % 2 === 0
      const head = parsed(fields, isWhole)
      if (typeof head === 'string') return head
      const body = bodyFor(head)
      if (body === undefined) return 'long/'
      const text = forwardedRequest(head, origin) + body
      const { requests, restBytes } = readRequests(text)
      const [request] = requests
      if (request === undefined || requests.length > 1 || restBytes > 0) throw new Error(`${JSON.stringify(text)} is not one request`)
      refuseDifference(fields, request, head)
      if (head.upgrade === undefined)
        comparison.add({ kind: 'q', bytes: Buffer.from(text, 'latin1') }, { text: requestLineOf(request) }, input)
      return `read/${head.framing.kind} ${request.fields.length} ${head.upgrade !== undefined} ${request.method.length}`
    },
    compare: () => comparison.compare(),
    compared: () => comparison.counts(),
    close: () => comparison.stop(),
  }
}

const [VALUE_MARK, END_MARK] = ['\xfd', '\xfe']

/** An input is a byte whose last bit tells that a body follows, and then fields, each a name, a mark, a value and a mark. */
function fieldsOf(input: Buffer): HeaderField[] {
  const texts = input.toString('latin1', 1).split(END_MARK).slice(0, -1)
  return texts.map((text) => {
    const [name = '', ...value] = text.split(VALUE_MARK)
    return new HeaderField(name, value.join(VALUE_MARK))
  })
}

/** The head, or why there is none. */
function parsed(fields: readonly HeaderField[], isWhole: boolean): RequestHead | string {
  try {
    return new RequestParser(limits).parse(fields, isWhole).head
  } catch (error) {
    if (error instanceof StreamError || error instanceof BadMessage)
      return `${error.message.split(' ').slice(-2).join(' ').replace(/\d+/g, 'n')}/`
    throw error
  }
}

function bodyFor({ framing }: RequestHead): string | undefined {
  if (framing.kind === 'chunked') return '5\r\nhello\r\n0\r\n\r\n'
  if (framing.kind !== 'length') return ''
  return framing.bytes > LONGEST_BODY_BYTES ? undefined : 'x'.repeat(framing.bytes)
}

function refuseDifference(fields: readonly HeaderField[], request: StrictRequest, head: RequestHead): void {
  const given = (name: string) => fields.find((field) => field.name === name)?.value
  const isTunnel = given(':protocol') !== undefined
  if (request.method !== (isTunnel ? 'GET' : given(':method'))) throw new Error(`the method is ${request.method}`)
  if (request.target !== given(':path')) throw new Error(`the target is ${request.target}`)
  if (request.host !== (given(':authority') ?? given('host')?.trim())) throw new Error(`the host is ${request.host}`)
  const cookie = fields.filter(({ name }) => name === 'cookie').map(({ value }) => value)
  for (const { name, value } of request.fields) {
    const isGiven = fields.some((field) => field.name === name && trimmed(field.value) === value)
    const isOurs = ours.has(name) || name === 'host' || (name === 'cookie' && trimmed(cookie.join('; ')) === value)
    const isOfTunnel = isTunnel && (name === 'upgrade' || name === 'sec-websocket-key')
    if (!isGiven && !isOurs && !isOfTunnel) throw new Error(`${name}: ${value} was not given`)
  }
  const codings = request.fields.filter(({ name }) => name === 'transfer-encoding').map(({ value }) => value)
  if (codings.join() !== (head.framing.kind === 'chunked' ? 'chunked' : '')) throw new Error(`a coding of ${codings}`)
  if (request.fields.filter(({ name }) => name === 'x-forwarded-for').length !== 1) throw new Error('a forged claim arrived')
}

const trimmed = (value: string): string => value.replace(/^[ \t]+|[ \t]+$/g, '')

const field = (name: string, value: string): string => name + VALUE_MARK + value + END_MARK
const pseudo = (method: string, path: string): string =>
  field(':method', method) + field(':scheme', 'https') + field(':path', path) + field(':authority', 'a.test')

const seeds = [
  `\0${pseudo('GET', '/')}${field('accept', '*/*')}${field('cookie', 'a=b')}${field('cookie', 'c=d')}`,
  `\x01${pseudo('POST', '/up?x=y')}${field('content-length', '5')}${field('te', 'trailers')}`,
  `\x01${pseudo('PUT', '/chunks')}${field('x-forwarded-for', '1.2.3.4')}${field('x_forwarded_for', '1')}${field('host', 'a.test')}`,
  `\x01${field(':method', 'CONNECT')}${field(':protocol', 'websocket')}${field(':scheme', 'https')}${field(':path', '/ws')}${field(':authority', 'a.test')}`,
  `\0${field(':method', 'OPTIONS')}${field(':scheme', 'http')}${field(':path', '*')}${field('host', 'a.test:80')}${field('expect', '100-continue')}`,
]

const dictionary = [
  ...['\r', '\n', '\0', '\r\n', ' ', '\t', ':', '\x7f', '\xff', '_', 'X', VALUE_MARK, END_MARK],
  ...[field('transfer-encoding', 'chunked'), field('connection', 'close'), field('connection', 'host'), field('content-length', '3')],
  ...[field('content-length', '0'), field('upgrade', 'h2c'), field('host', 'b.test'), field('keep-alive', 'x'), field('te', 'gzip')],
  ...[
    field('x', 'y\r\nz: 1'),
    field('x\r\nz', 'y'),
    field('x: y\r\nz', '1'),
    field(':path', '/ HTTP/1.1\r\nx: y'),
    field(':method', 'GET / HTTP/1.1\r\n'),
  ],
  ...[
    field(':authority', 'b.test'),
    field(':authority', 'a.test\r\nx: y'),
    field(':path', '/b'),
    field(':status', '200'),
    field('X-Upper', '1'),
  ],
  ...[
    field('x-real-ip', '1'),
    field('x-request-id', 'forged-id-1'),
    field('proxy-connection', 'x'),
    field('', ''),
    field('cookie', 'e=f\r\n'),
  ],
]
