import { BadMessage } from '../../../server/ingress/message/bad-message.ts'
import type { RequestHead } from '../../../server/ingress/message/request-head.ts'
import { type RequestLimits, RequestReader } from '../../../server/ingress/message/request-reader.ts'
import { forwardedRequest } from '../../support/forwarded-heads.ts'
import { readRequests, type StrictRequest, valuesOf } from '../../support/strict-http.ts'
import { Comparison } from '../base/comparison.ts'
import type { Random } from '../base/mutate.ts'
import type { FuzzTarget } from '../base/target.ts'
import type { Oracle } from '../oracle/oracle.ts'

/** Small, so that inputs reach them. */
const smallLimits: RequestLimits = { maxHeadBytes: 512, maxFields: 12, maxTargetBytes: 100 }
const origin = { address: '198.51.100.7', isTrusted: false, scheme: 'http', requestId: 'request-1' } as const

interface ReadRequest {
  head: RequestHead
  body: string
  isWhole: boolean
}

interface Reading {
  requests: ReadRequest[]
  /** Undefined while more bytes are waited for. */
  refusal: BadMessage | undefined
}

/** Requests of one client connection: read in one piece and in several, forwarded, and read again by others. */
export function requestHeadTarget(oracles: readonly Oracle[]): FuzzTarget {
  const comparison = new Comparison(oracles)
  return {
    name: 'request-head',
    seeds,
    dictionary,
    check(input, random) {
      const limits = { ...smallLimits, maxHeadBytes: headLimit(input, random) }
      const whole = readIn([input], limits)
      const pieces = readIn(cut(input, random), limits)
      if (textOf(whole) !== textOf(pieces)) throw new Error(`read in pieces: ${textOf(pieces)}\nread whole: ${textOf(whole)}`)
      forwardAgain(whole, random(4) === 0, (text, expected) =>
        comparison.add({ kind: 'q', bytes: Buffer.from(text, 'latin1') }, { text: expected }, input),
      )
      return outcomeOf(whole)
    },
    compare: () => comparison.compare(),
    compared: () => comparison.counts(),
    close: () => comparison.stop(),
  }
}

/** Now and then just where a head ends or shortly before, as what is too long must not depend on how it arrives either. */
export function headLimit(input: Buffer, random: Random): number {
  return random(8) === 0 ? Math.max(0, input.indexOf('\r\n\r\n') - random(3)) : smallLimits.maxHeadBytes
}

function readIn(pieces: readonly Buffer[], limits: RequestLimits): Reading {
  const reader = new RequestReader(limits)
  const requests: ReadRequest[] = []
  try {
    for (const piece of pieces) {
      reader.push(piece)
      for (let event = reader.next(); event !== undefined; event = reader.next()) {
        const last = requests.at(-1)
        if (event.kind === 'head') requests.push({ head: event.head, body: '', isWhole: event.head.framing.kind === 'none' })
        else if (last === undefined) throw new Error('a body without a head')
        else if (event.kind === 'body') last.body += event.bytes.toString('latin1', event.from, event.to)
        else last.isWhole = true
      }
    }
  } catch (error) {
    if (!(error instanceof BadMessage)) throw error
    return { requests, refusal: error }
  }
  return { requests, refusal: undefined }
}

/** Mostly in two or three pieces, now and then byte by byte. */
export function cut(input: Buffer, random: Random): Buffer[] {
  if (random(50) === 0) return Array.from(input, (_, at) => input.subarray(at, at + 1))
  const first = random(input.length + 1)
  const second = first + random(input.length - first + 1)
  return [input.subarray(0, first), input.subarray(first, second), input.subarray(second)].filter(({ length }) => length > 0)
}

/** Everything of a reading that must not depend on how the bytes arrive. A refusal may come earlier for another reason, but it must come. */
function textOf({ requests, refusal }: Reading): string {
  const told = requests.map(({ head, body, isWhole }) => {
    const { text, method, target, host, framing, isKeepAlive, upgrade } = head
    return [text, method, target, host, framing.kind, isKeepAlive, upgrade, refusal !== undefined && !isWhole ? '' : body, isWhole].join(
      '|',
    )
  })
  return `${told.join('\n')} ${refusal === undefined ? 'open' : 'refused'}`
}

/** Sends the whole requests on as the ingress does, on one connection, and reads that again: the same requests, or it throws. */
function forwardAgain({ requests }: Reading, isTrusted: boolean, compareWith: (text: string, expected: string) => void): void {
  const whole = requests.filter(({ isWhole }) => isWhole)
  if (whole.length === 0) return
  const text = whole.map(({ head, body }) => forwardedRequest(head, { ...origin, isTrusted }) + body).join('')
  const again = readRequests(text)
  if (again.restBytes > 0 || again.requests.length !== whole.length) {
    throw new Error(`${whole.length} requests went on and ${again.requests.length} arrived, with ${again.restBytes} bytes behind them`)
  }
  const lines = again.requests.map((request, index) => {
    refuseDifference(whole[index], request)
    refuseForgery(request, isTrusted)
    return requestLineOf(request)
  })
  // Behind a change of protocol llhttp reads no further.
  const upgradeAt = whole.findIndex(({ head }) => head.upgrade !== undefined)
  if (upgradeAt < 0) compareWith(text, lines.join(' '))
}

function refuseDifference(sent: ReadRequest | undefined, arrived: StrictRequest): void {
  if (sent === undefined) throw new Error('nothing was sent')
  const { head } = sent
  const framing = head.framing.kind === 'length' && head.framing.bytes === 0 ? 'none' : head.framing.kind
  const given = arrived.framing === 'length' && arrived.payload === '' ? 'none' : arrived.framing
  const same = head.method === arrived.method && head.target === arrived.target && head.hostHeader === arrived.host && framing === given
  if (!same) throw new Error(`${head.method} ${head.target} arrived as ${JSON.stringify(arrived)}`)
  if (framing === 'length' && sent.body !== arrived.payload) throw new Error(`the body arrived as ${JSON.stringify(arrived.payload)}`)
  const odd = arrived.fields.find(({ name }) => /^(keep-alive|proxy-connection|content_length|transfer_encoding)$/.test(name))
  if (odd !== undefined) throw new Error(`${odd.name} arrived`)
  const forbidden = arrived.trailers.find(({ name }) => /^(content-length|transfer-encoding|host|x-forwarded-.*)$/.test(name))
  if (forbidden !== undefined) throw new Error(`${forbidden.name} arrived as a trailer`)
}

/** One line tells where a request comes from, and nobody but a trusted proxy has put anything into it. */
function refuseForgery({ fields }: StrictRequest, isTrusted: boolean): void {
  const chains = fields.filter(({ name }) => /^x[-_]forwarded[-_]for$/.test(name))
  const isTrue = isTrusted ? chains[0]?.value.endsWith(origin.address) : chains[0]?.value === origin.address
  if (chains.length !== 1 || !isTrue) throw new Error(`a forged claim arrived: ${JSON.stringify(chains)}`)
  const claims = ['x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-port'].map((name) => valuesOf(fields, name).length)
  if (!claims.every((count) => (isTrusted ? count >= 1 : count === 1))) throw new Error(`claims are missing or forged: ${claims}`)
  if (!isTrusted && fields.some(({ name }) => /^x[-_]real[-_]ip$|^forwarded$/.test(name))) throw new Error('a forged address arrived')
}

/** In the words of the oracles. */
export function requestLineOf({ method, target, host, framing, payload, trailers }: StrictRequest): string {
  const shown = framing === 'length' && payload === '' ? 'none' : framing
  const names = [...new Set(trailers.map(({ name }) => name))].sort().join(',')
  return [method, target, host, shown, Buffer.from(payload, 'latin1').toString('hex'), names].join('|')
}

function outcomeOf({ requests, refusal }: Reading): string {
  const shapes = requests.slice(0, 2).map(({ head, isWhole }) => {
    const known = head.fields.map((field) => field.known?.slice(0, 3) ?? '-').slice(0, 3)
    return [head.framing.kind, head.minorVersion, head.isKeepAlive, head.upgrade !== undefined, isWhole, known.join('')].join(',')
  })
  return `${refusal?.message.replace(/\d+/g, 'n') ?? 'read'}/${shapes.join(';')}`
}

const seeds = [
  'GET /one HTTP/1.1\r\nHost: a.test\r\nX-Forwarded-For: 1.2.3.4\r\nConnection: keep-alive, X-A\r\nX-A: b\r\n\r\n',
  'POST /two?q=%20 HTTP/1.1\r\nHost: A.test:80\r\nContent-Length: 12\r\n\r\nhello\r\n\r\nyou',
  'PUT /three HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\nTE: trailers\r\n\r\n5\r\nabcde\r\n1;x=y\r\n!\r\n0\r\nX-Sum: 5\r\n\r\n',
  'GET /ws HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  'GET / HTTP/1.0\r\nHost: [::1]:8080\r\nConnection: keep-alive\r\n\r\nHEAD /x HTTP/1.1\r\nHost: b.\r\nX_Forwarded_For: 9\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nhost:a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: a\r\n\r\n',
]

const dictionary = [
  ...[
    '\r',
    '\n',
    '\0',
    ' ',
    '\t',
    ':',
    ',',
    ';',
    '\r\n',
    '\r\n\r\n',
    '\x0b',
    '\x0c',
    '\xff',
    '\xa0',
    '\x7f',
    '0',
    'f',
    '"',
    '#',
    '\\',
    '//',
    '*',
  ],
  ...['GET', 'POST', 'CONNECT', 'TRACE', 'PRI', ' / ', ' HTTP/1.1', ' HTTP/1.0', 'HTTP/0.9', 'http://b.test/'],
  ...['Content-Length: 3\r\n', 'Content-Length: 0\r\n', 'Content-Length: +3\r\n', 'content-length:03\r\n', 'Content-Length: 3, 3\r\n'],
  ...[
    'Transfer-Encoding: chunked\r\n',
    'Transfer-Encoding: xchunked\r\n',
    'Transfer-Encoding:\tchunked\r\n',
    'transfer-encoding: Chunked \r\n',
  ],
  ...[
    'Transfer-Encoding: chunked, identity\r\n',
    'Transfer_Encoding: chunked\r\n',
    'Content_Length: 9\r\n',
    'Host: b.test\r\n',
    'Host:\r\n',
  ],
  ...['Connection: Content-Length\r\n', 'Connection: close\r\n', 'Connection: Host\r\n', 'Connection: Upgrade\r\n', 'Upgrade: h2c\r\n'],
  ...[
    'Upgrade: websocket\r\n',
    'Expect: 100-continue\r\n',
    'TE: trailers\r\n',
    'Trailer: X\r\n',
    'X-Real-IP: 1\r\n',
    'X-Forwarded-Host: c\r\n',
    'Connection: X-Forwarded-Host\r\n',
    'x-forwarded-proto: d\r\n',
  ],
  ...[
    ' folded\r\n',
    '\tfolded\r\n',
    'X-A : b\r\n',
    'X: y\r\n',
    '0\r\n\r\n',
    '0\r\nX: y\r\n\r\n',
    '5\r\nabcde\r\n',
    '5;a=b\r\nabcde\r\n',
    '0x5',
    'ffffffffffff',
  ],
  ...['GET / HTTP/1.1\r\nHost: a\r\n\r\n', 'x'.repeat(100), `X: ${'y'.repeat(300)}\r\n`],
]
