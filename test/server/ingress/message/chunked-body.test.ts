import { describe, expect, test } from 'vitest'
import { BadMessage } from '../../../../server/ingress/message/bad-message.ts'
import { ChunkedBody } from '../../../../server/ingress/message/chunked-body.ts'

const bytes = (text: string) => Buffer.from(text, 'latin1')

function readAll(text: string, step: number): { taken: number; payload: string; isDone: boolean } {
  let payload = ''
  const body = new ChunkedBody({
    onPayload: (part) => {
      payload += part.toString('latin1')
    },
    onTrailers: () => {},
  })
  let taken = 0
  for (let at = 0; at < text.length && !body.isDone; at += step) taken += body.take(bytes(text.slice(at, at + step)))
  return { taken, payload, isDone: body.isDone }
}

describe('whole bodies', () => {
  const whole: [string, string, string][] = [
    ['empty', '0\r\n\r\n', ''],
    ['one chunk', '3\r\nabc\r\n0\r\n\r\n', 'abc'],
    ['two chunks', '3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n', 'abc0123456789'],
    ['leading zeros', '0003\r\nabc\r\n00\r\n\r\n', 'abc'],
    ['an extension', '3;name=value\r\nabc\r\n0;last\r\n\r\n', 'abc'],
    ['trailers', '3\r\nabc\r\n0\r\nX-Sum: 1\r\nX-Two:2\r\n\r\n', 'abc'],
    ['line breaks in data', '4\r\n\r\n\r\n\r\n0\r\n\r\n', '\r\n\r\n'],
  ]
  test.each(whole)('%s, in pieces of any size', (_name, text, payload) => {
    for (const step of [1, 2, 3, 7, 1000]) expect(readAll(text, step)).toEqual({ taken: text.length, payload, isDone: true })
  })

  test('bytes behind the end are left alone', () => {
    const body = new ChunkedBody()
    expect(body.take(bytes('0\r\n\r\nGET / HTTP/1.1'))).toBe(5)
    expect(body.isDone).toBe(true)
  })
})

test.each([1, 3, 1000])('trailers are handed over as they came, in pieces of %i', (step) => {
  const text = '3\r\nabc\r\n0\r\nX-Sum: 1\r\nX-Two:2\r\n\r\n'
  const trailers: string[] = []
  const body = new ChunkedBody({ onPayload: () => {}, onTrailers: (lines) => void trailers.push(lines) })
  for (let at = 0; at < text.length; at += step) body.take(bytes(text.slice(at, at + step)))
  expect(trailers).toEqual(['X-Sum: 1\r\nX-Two:2\r\n'])
})

const broken: [string, string][] = [
  ['no size', '\r\nabc\r\n'],
  ['a size that is not hexadecimal', 'g\r\n'],
  ['a 0x prefix', '0x3\r\nabc\r\n'],
  ['a sign', '+3\r\nabc\r\n'],
  ['a space before the size', ' 3\r\nabc\r\n'],
  ['a space behind the size', '3 \r\nabc\r\n'],
  ['a bare LF behind the size', '3\nabc\r\n'],
  ['a bare CR behind the size', '3\rabc\r\n'],
  ['a bare LF in an extension', '3;a\nabc\r\n'],
  ['a bare LF behind data', '3\r\nabc\n0\r\n\r\n'],
  ['data longer than its size', '3\r\nabcd\r\n0\r\n\r\n'],
  ['a size beyond exact numbers', 'fffffffffffff\r\n'],
  ['an endless extension', `3;${'a'.repeat(300)}`],
  ['a trailer without a name', '0\r\n: a\r\n\r\n'],
  ['a length as a trailer', '0\r\nContent-Length: 3\r\n\r\n'],
  ['a coding as a trailer', '0\r\nX: y\r\ntransfer-encoding: chunked\r\n\r\n'],
  ['a host as a trailer', '0\r\nHOST: b\r\n\r\n'],
  ['a claim of origin as a trailer', '0\r\nX_Forwarded-For: 127.0.0.1\r\n\r\n'],
  ['a space in a trailer name', '0\r\nX : a\r\n\r\n'],
  ['a folded trailer', '0\r\nX: a\r\n b\r\n\r\n'],
  ['NUL in a trailer', '0\r\nX: \0\r\n\r\n'],
  ['endless trailers', `0\r\n${'X: y\r\n'.repeat(2000)}`],
  ['a bare LF at the end', '0\r\n\n'],
]
test.each(broken)('%s is refused', (_name, text) => {
  expect(() => readAll(text, 1)).toThrow(BadMessage)
  expect(() => readAll(text, 10_000)).toThrow(BadMessage)
})
