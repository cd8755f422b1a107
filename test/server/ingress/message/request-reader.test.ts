import { expect, test } from 'vitest'
import { BadMessage } from '../../../../server/ingress/message/bad-message.ts'
import { type RequestEvent, RequestReader } from '../../../../server/ingress/message/request-reader.ts'
import { randomFrom } from '../random.ts'

const limits = { maxHeadBytes: 2000, maxFields: 50, maxTargetBytes: 1000 }

const stream =
  'GET /one HTTP/1.1\r\nHost: a\r\nX-Long: abcdefghijklmnop\r\n\r\n' +
  'POST /two HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\nhello\r\n\r\nyou' +
  'PUT /three HTTP/1.1\r\nHost: b.example\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n1;x=y\r\n!\r\n0\r\nX-Sum: 5\r\n\r\n' +
  'DELETE /four HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

/** What a stream says, whatever pieces it came in. */
function summaryOf(pieces: Iterable<Buffer>): string[] {
  const reader = new RequestReader(limits)
  const summary: string[] = []
  let body = ''
  const take = (event: RequestEvent) => {
    if (event.kind === 'head') summary.push(`${event.head.method} ${event.head.target} ${event.head.host} ${event.head.framing.kind}`)
    if (event.kind === 'body') body += event.bytes.toString('latin1', event.from, event.to)
    if (event.kind === 'end') summary.push(`body ${JSON.stringify(body)}`)
    if (event.kind !== 'body') body = ''
  }
  for (const piece of pieces) {
    reader.push(piece)
    for (let event = reader.next(); event !== undefined; event = reader.next()) take(event)
  }
  return summary
}

test('pipelined requests are read one after the other, in pieces of any size', () => {
  const bytes = Buffer.from(stream, 'latin1')
  const whole = summaryOf([bytes])
  expect(whole).toEqual([
    'GET /one a none',
    'POST /two a length',
    String.raw`body "hello\r\n\r\nyou"`,
    'PUT /three b.example chunked',
    String.raw`body "5\r\nabcde\r\n1;x=y\r\n!\r\n0\r\nX-Sum: 5\r\n\r\n"`,
    'DELETE /four a none',
  ])
  const random = randomFrom(1)
  for (let round = 0; round < 200; round++) expect(summaryOf(cut(bytes, random))).toEqual(whole)
})

test('a head that grows beyond the limit is refused before it is whole', () => {
  const reader = new RequestReader(limits)
  reader.push(Buffer.from(`GET / HTTP/1.1\r\nX: ${'a'.repeat(2000)}`))
  expect(() => reader.next()).toThrow(expect.objectContaining({ status: 431 }))
})

test('a bare LF is refused before the head is whole', () => {
  const reader = new RequestReader(limits)
  reader.push(Buffer.from('GET / HTTP/1.1\nHost: a\n\n'))
  expect(() => reader.next()).toThrow(BadMessage)
})

test('whatever is changed in a stream, it is read as strict HTTP or refused', () => {
  const random = randomFrom(20_260_101)
  const spice = [
    '\r',
    '\n',
    '\0',
    ' ',
    '\t',
    ':',
    '\r\n',
    '\r\n\r\n',
    'Content-Length: 3\r\n',
    'Transfer-Encoding: chunked\r\n',
    '\x0b',
    '\xff',
    '0',
  ]
  let refused = 0
  for (let round = 0; round < 5000; round++) {
    let text = stream
    for (let change = 0; change <= random(3); change++) {
      const at = random(text.length)
      text = text.slice(0, at) + (spice[random(spice.length)] ?? '') + text.slice(at + random(3))
    }
    const bytes = Buffer.from(text, 'latin1')
    const whole = outcomeOf([bytes])
    expect(outcomeOf(cut(bytes, random)).slice(0, whole.length)).toEqual(whole)
    if (whole.at(-1) === 'refused') refused++
  }
  expect(refused).toBeGreaterThan(1000)
})

/** Events up to a refusal; any other error fails the test. */
function outcomeOf(pieces: Iterable<Buffer>): string[] {
  const reader = new RequestReader(limits)
  const outcome: string[] = []
  let bodyBytes = 0
  try {
    for (const piece of pieces) {
      reader.push(piece)
      for (let event = reader.next(); event !== undefined; event = reader.next()) {
        if (event.kind === 'body') bodyBytes += event.to - event.from
        if (event.kind === 'end') outcome.push(`end ${bodyBytes}`)
        if (event.kind !== 'head') continue
        bodyBytes = 0
        const { text, method, target, host, framing, fields } = event.head
        expect(fields.filter((field) => field.name === 'host')).toHaveLength(1)
        expect(fields.filter((field) => field.name === 'content-length' || field.name === 'transfer-encoding').length).toBeLessThan(2)
        for (const { from, to } of fields)
          expect(text.slice(from, to)).toMatch(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n$/)
        outcome.push(`${method} ${target} ${host} ${framing.kind}`)
      }
    }
  } catch (error) {
    if (!(error instanceof BadMessage)) throw error
    outcome.push('refused')
  }
  return outcome
}

function* cut(bytes: Buffer, random: (below: number) => number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + 1 + random(40))
    yield bytes.subarray(at, end)
    at = end
  }
}

test('a head of the largest size is taken in pieces of any size, and one byte more is refused', () => {
  const head = (bytes: number) => Buffer.from(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(bytes - 30)}\r\n\r\n`)
  const readIn = (bytes: Buffer, step: number) => {
    const reader = new RequestReader({ ...limits, maxHeadBytes: 100 })
    let event: RequestEvent | undefined
    for (let at = 0; at < bytes.length; at += step) {
      reader.push(bytes.subarray(at, at + step))
      event = reader.next()
    }
    return event?.kind
  }
  for (const step of [1, 2, 3, 103, 1000]) {
    expect(readIn(head(102), step)).toBe('head')
    expect(() => readIn(head(103), step)).toThrow(BadMessage)
  }
})
