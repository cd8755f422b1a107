import { BadMessage } from '../../../server/ingress/message/bad-message.ts'
import { ChunkedBody } from '../../../server/ingress/message/chunked-body.ts'
import { readChunks } from '../../support/strict-http.ts'
import { Comparison } from '../base/comparison.ts'
import type { FuzzTarget } from '../base/target.ts'
import type { Oracle } from '../oracle/oracle.ts'
import { cut } from './request-head.ts'

const HEAD = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'

interface Reading {
  payload: string
  takenBytes: number
  isDone: boolean
  refusal: BadMessage | undefined
}

/** Chunked bodies: where they end and what they carry, in one piece and in several, beside decoders of other make. */
export function chunkedBodyTarget(oracles: readonly Oracle[]): FuzzTarget {
  const comparison = new Comparison(oracles)
  return {
    name: 'chunked-body',
    seeds,
    dictionary,
    check(input, random) {
      const whole = readIn([input])
      const pieces = readIn(cut(input, random))
      if (textOf(whole) !== textOf(pieces)) throw new Error(`read in pieces: ${textOf(pieces)}\nread whole: ${textOf(whole)}`)
      if (whole.isDone) {
        const text = input.toString('latin1', 0, whole.takenBytes)
        const expected = decoded(whole, text)
        comparison.add({ kind: 'q', bytes: Buffer.from(HEAD + text, 'latin1') }, { text: expected }, input)
      }
      return `${whole.refusal?.message ?? (whole.isDone ? 'whole' : 'open')}/${Math.min(4, Math.ceil(Math.log2(1 + whole.payload.length)))}`
    },
    compare: () => comparison.compare(),
    compared: () => comparison.counts(),
    close: () => comparison.stop(),
  }
}

function readIn(pieces: readonly Buffer[]): Reading {
  let payload = ''
  let takenBytes = 0
  const body = new ChunkedBody({
    onPayload: (part) => {
      payload += part.toString('latin1')
    },
    onTrailers: () => {},
  })
  try {
    for (const piece of pieces) takenBytes += body.take(piece)
  } catch (refusal) {
    if (!(refusal instanceof BadMessage)) throw refusal
    return { payload, takenBytes, isDone: false, refusal }
  }
  return { payload, takenBytes, isDone: body.isDone, refusal: undefined }
}

function textOf({ payload, takenBytes, isDone, refusal }: Reading): string {
  return JSON.stringify([payload, refusal?.message ?? takenBytes, isDone])
}

/** In the words of the oracles, after it was compared with the strict decoder. */
function decoded(whole: Reading, text: string): string {
  const strict = readChunks(text, 0)
  if (strict?.end !== whole.takenBytes || strict.message.payload !== whole.payload) {
    throw new Error(`${JSON.stringify(whole)} is read as ${JSON.stringify(strict)}`)
  }
  const names = strict.message.trailers.map(({ name }) => name)
  const odd = names.find((name) => /^(content[-_]length|transfer[-_]encoding|host|x[-_]forwarded[-_].*)$/.test(name))
  if (odd !== undefined) throw new Error(`${odd} arrived as a trailer`)
  return ['POST', '/', 'a', 'chunked', Buffer.from(whole.payload, 'latin1').toString('hex'), [...new Set(names)].sort().join(',')].join('|')
}

const seeds = [
  '0\r\n\r\n',
  '5\r\nhello\r\n0\r\n\r\n',
  'A;name=value\r\n0123456789\r\n1\r\n!\r\n0\r\nX-Sum: 5\r\nX-Other:  6 \r\n\r\n',
  `${(40).toString(16)};q="a;b"\r\n${'x'.repeat(40)}\r\n000\r\n\r\nGET / HTTP/1.1\r\n`,
  '3\r\n\r\n\r\r\n2;\r\n\r\n\r\n0;last\r\n\r\n',
]

const dictionary = [
  ...[
    '\r',
    '\n',
    '\r\n',
    '\r\n\r\n',
    '\n\n',
    '\r\r\n',
    '0',
    '1',
    'a',
    'F',
    ';',
    ' ',
    '\t',
    '\0',
    '\x0b',
    '"',
    '=',
    ':',
    '+',
    '-',
    '_',
    '0x',
    'g',
    '\xff',
    '\x7f',
  ],
  ...[
    '0\r\n\r\n',
    '0\r\n',
    '1\r\nx\r\n',
    '5\r\nhello\r\n',
    ';a=b',
    ';a="\r\n"',
    ' ;a',
    '\n;a',
    'ffffffff',
    '100000000',
    '10000000000000000',
    '000000000000',
  ],
  ...[
    'X: y\r\n',
    'Content-Length: 3\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Host: b\r\n',
    'X-Forwarded-For: 1\r\n',
    ' folded\r\n',
    'X : y\r\n',
    `;${'e'.repeat(200)}`,
  ],
]
