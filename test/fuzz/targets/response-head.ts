import { BadMessage } from '../../../server/ingress/message/bad-message.ts'
import type { ResponseHead } from '../../../server/ingress/message/response-head.ts'
import { type ResponseOptions, ResponseReader } from '../../../server/ingress/message/response-reader.ts'
import { forwardedResponse } from '../../support/forwarded-heads.ts'
import { readResponse, type StrictResponse, valuesOf } from '../../support/strict-http.ts'
import { Comparison } from '../base/comparison.ts'
import type { FuzzTarget } from '../base/target.ts'
import type { Oracle } from '../oracle/oracle.ts'
import { cut, headLimit } from './request-head.ts'

const MAX_FIELDS = 12
const methods = ['GET', 'HEAD'] as const
type Method = (typeof methods)[number]

interface Reading {
  interims: ResponseHead[]
  head: ResponseHead | undefined
  body: string
  payload: string
  isWhole: boolean
  /** The answer is whole when the connection ends here. */
  isWholeAtEnd: boolean
  excessBytes: number
  refusal: BadMessage | undefined
}

/** The answers of an instance: read in one piece and in several, forwarded to a client of either version, and read again by others. */
export function responseHeadTarget(oracles: readonly Oracle[]): FuzzTarget {
  const comparison = new Comparison(oracles)
  return {
    name: 'response-head',
    seeds,
    dictionary,
    check(input, random) {
      // Which method was asked with is no part of an answer: it is taken from the last byte.
      const method = methods[(input.at(-1) ?? 0) % 2 === 0 ? 0 : 1] ?? 'GET'
      const limits = { maxHeadBytes: headLimit(input, random), maxFields: MAX_FIELDS }
      const whole = readIn([input], { method, limits })
      const pieces = readIn(cut(input, random), { method, limits })
      if (textOf(whole) !== textOf(pieces)) throw new Error(`read in pieces: ${textOf(pieces)}\nread whole: ${textOf(whole)}`)
      forwardAgain(whole, method, (text, expected) => {
        comparison.add({ kind: method === 'HEAD' ? 'H' : 'r', bytes: Buffer.from(text, 'latin1') }, { text: expected }, input)
      })
      return outcomeOf(whole)
    },
    compare: () => comparison.compare(),
    compared: () => comparison.counts(),
    close: () => comparison.stop(),
  }
}

function readIn(pieces: readonly Buffer[], options: ResponseOptions): Reading {
  const reading: Reading = { ...nothing, interims: [] }
  const sink = {
    onPayload(part: Buffer) {
      reading.payload += part.toString('latin1')
    },
    onTrailers() {},
  }
  const reader = new ResponseReader({ ...options, sink })
  try {
    for (const piece of pieces) {
      reader.push(piece)
      for (let event = reader.next(); event !== undefined; event = reader.next()) {
        if (event.kind === 'interim') reading.interims.push(event.head)
        else if (event.kind === 'switch') return reading
        else if (event.kind === 'head') reading.head = event.head
        else if (event.kind === 'body') reading.body += event.bytes.toString('latin1', event.from, event.to)
        else reading.isWhole = true
      }
    }
  } catch (error) {
    if (!(error instanceof BadMessage)) throw error
    reading.refusal = error
  }
  reading.isWholeAtEnd = reader.isWholeAtEnd()
  reading.excessBytes = reading.isWhole ? reader.excessBytes : 0
  return reading
}

const nothing = { head: undefined, body: '', payload: '', isWhole: false, isWholeAtEnd: false, excessBytes: 0, refusal: undefined }

function textOf({ interims, head, body, payload, isWhole, isWholeAtEnd, excessBytes, refusal }: Reading): string {
  const heads = [...interims, ...(head === undefined ? [] : [head])].map(({ text, framing, isKeepAlive }) => [
    text,
    framing.kind,
    isKeepAlive,
  ])
  // A refused body is passed on up to some byte before what refuses it, and the connection ends there.
  const passed = refusal === undefined ? [body, payload, excessBytes] : []
  return JSON.stringify([heads, passed, isWhole, refusal === undefined && isWholeAtEnd, refusal === undefined])
}

/** What a client of HTTP/1.1 and one of HTTP/1.0 get must be the same answer, and only that. */
function forwardAgain(reading: Reading, method: Method, compareWith: (text: string, expected: string) => void): void {
  const { head, interims, body, payload, isWhole, isWholeAtEnd, refusal } = reading
  if (head === undefined) return
  const isEnded = refusal === undefined && (isWhole || isWholeAtEnd)
  const isDelimited = head.framing.kind !== 'until-close'
  const interim = interims.map((each) => forwardedResponse(each, { minorVersion: 1, method, isKeptAlive: true, headers: [] })).join('')
  const text = interim + forwardedResponse(head, { minorVersion: 1, method, isKeptAlive: isDelimited, headers: [] }) + body
  const arrived = readResponse(text, method, isEnded)
  if ((arrived !== undefined) !== isEnded)
    throw new Error(`${isEnded ? 'a whole' : 'a broken'} answer arrived as ${JSON.stringify(arrived)}`)
  if (arrived === undefined) return
  if (arrived.restBytes > 0 || arrived.interims !== interims.length) throw new Error(`more or less arrived: ${JSON.stringify(arrived)}`)
  const carried = head.framing.kind === 'chunked' ? payload : body
  refuseDifference({ head, carried }, arrived.response)
  const old = forwardedResponse(head, { minorVersion: 0, method, isKeptAlive: false, headers: [] }) + carried
  const oldArrived = readResponse(old, method, true)
  if (oldArrived?.response.payload !== arrived.response.payload) throw new Error(`HTTP/1.0 gets ${JSON.stringify(oldArrived)}`)
  const { status, trailers } = arrived.response
  const names = [...new Set(trailers.map(({ name }) => name))].sort().join(',')
  compareWith(text, [status, Buffer.from(carried, 'latin1').toString('hex'), names].join('|'))
}

function refuseDifference({ head, carried }: { head: ResponseHead; carried: string }, arrived: StrictResponse): void {
  if (arrived.status !== head.status || arrived.payload !== carried) throw new Error(`the answer arrived as ${JSON.stringify(arrived)}`)
  const odd = arrived.fields.find(({ name }) => /^(keep-alive|proxy-connection|upgrade)$/.test(name))
  if (odd !== undefined) throw new Error(`${odd.name} arrived`)
  const isClosed = valuesOf(arrived.fields, 'connection').includes('close')
  if (arrived.framing === 'until-close' && !isClosed) throw new Error('the client is not told that the connection ends')
}

function outcomeOf({ interims, head, isWhole, isWholeAtEnd, excessBytes, refusal }: Reading): string {
  const known = head?.fields.map((field) => field.known?.slice(0, 3) ?? '-').slice(0, 4) ?? []
  const shape = [head?.framing.kind, head?.minorVersion, head?.isKeepAlive, head && Math.floor(head.status / 100), known.join('')].join(',')
  return `${refusal?.message.replace(/\d+/g, 'n') ?? 'read'}/${Math.min(2, interims.length)} ${shape} ${isWhole} ${isWholeAtEnd} ${excessBytes > 0}`
}

const seeds = [
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5\r\nabcde\r\n1;x=y\r\n!\r\n0\r\nX-Sum: 5\r\n\r\n',
  'HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end',
  'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 204 No Content\r\nContent-Length: 3\r\nConnection: close\r\n\r\n',
  'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nContent-Length: 99\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  'HTTP/1.1 200\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n',
]

const dictionary = [
  ...['\r', '\n', '\0', ' ', '\t', ':', ',', ';', '\r\n', '\r\n\r\n', '\x0b', '\xff', '\xa0', '\x7f', '0', 'f', '"', '1', '2'],
  ...['HTTP/1.1 ', 'HTTP/1.0 ', 'HTTP/2.0 ', 'http/1.1 ', ' 200 ', ' 204 ', ' 304 ', ' 100 ', ' 101 ', ' 199 ', ' 600 ', ' 099 ', ' +20 '],
  ...['Content-Length: 3\r\n', 'Content-Length: 0\r\n', 'Content-Length: +3\r\n', 'content-length:03\r\n', 'Content-Length: 3, 3\r\n'],
  ...[
    'Transfer-Encoding: chunked\r\n',
    'Transfer-Encoding: gzip\r\n',
    'Transfer-Encoding:\tchunked\r\n',
    'Transfer-Encoding: chunked\t\r\n',
    'transfer-encoding: Chunked \r\n',
  ],
  ...['Transfer-Encoding: identity\r\n', 'Connection: Content-Length\r\n', 'Connection: close\r\n', 'Connection: keep-alive\r\n'],
  ...[
    'Upgrade: h2c\r\n',
    'Keep-Alive: timeout=5\r\n',
    'Trailer: X\r\n',
    ' folded\r\n',
    'X-A : b\r\n',
    'X: y\r\n',
    '0\r\n\r\n',
    '0\r\nX: y\r\n\r\n',
  ],
  ...[
    '5\r\nabcde\r\n',
    '5;a=b\r\nabcde\r\n',
    '0x5',
    'ffffffffffff',
    'HTTP/1.1 200 OK\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n',
    `X: ${'y'.repeat(300)}\r\n`,
  ],
]
