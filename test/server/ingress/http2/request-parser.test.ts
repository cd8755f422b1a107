import { expect, test } from 'vitest'
import { HeaderField } from '../../../../server/ingress/http2/header-field.ts'
import { StreamError } from '../../../../server/ingress/http2/http2-error.ts'
import { trailerLines } from '../../../../server/ingress/http2/request-fields.ts'
import { RequestParser } from '../../../../server/ingress/http2/request-parser.ts'
import { defaultIngressLimits } from '../../../../server/ingress/limits/limits.ts'
import { BadMessage } from '../../../../server/ingress/message/bad-message.ts'
import { type Fields, get, post } from './h2-client.ts'

const parse = (fields: Fields, isWhole = true) =>
  new RequestParser(defaultIngressLimits).parse(
    fields.map(([name, value]) => new HeaderField(name, value)),
    isWhole,
  )
const textOf = (fields: Fields, isWhole = true) => parse(fields, isWhole).head.text
const without = (name: string) => get.filter((field) => field[0] !== name)
const websocket: Fields = [[':method', 'CONNECT'], [':protocol', 'websocket'], ...get.slice(1), ['sec-websocket-version', '13']]

const written: [string, Fields, boolean, string][] = [
  ['a plain request', get, true, 'GET / HTTP/1.1\r\nhost: a.test\r\n\r\n'],
  ['fields', [...get, ['accept', '*/*'], ['x-a', '']], true, 'GET / HTTP/1.1\r\nhost: a.test\r\naccept: */*\r\nx-a: \r\n\r\n'],
  ['a body of unknown length', post, false, 'POST / HTTP/1.1\r\nhost: a.test\r\ntransfer-encoding: chunked\r\n\r\n'],
  ['a body of known length', [...post, ['content-length', '3']], false, 'POST / HTTP/1.1\r\nhost: a.test\r\ncontent-length: 3\r\n\r\n'],
  ['an empty body', [...post, ['content-length', '0']], true, 'POST / HTTP/1.1\r\nhost: a.test\r\ncontent-length: 0\r\n\r\n'],
  ['Host for :authority', [...without(':authority'), ['host', 'b.test']], true, 'GET / HTTP/1.1\r\nhost: b.test\r\n\r\n'],
  ['Host beside an equal :authority', [...get, ['host', 'A.test']], true, 'GET / HTTP/1.1\r\nhost: a.test\r\n\r\n'],
  [
    'the crumbs of a cookie',
    [...get, ['cookie', 'a=1'], ['x', 'y'], ['cookie', 'b=2']],
    true,
    'GET / HTTP/1.1\r\nhost: a.test\r\nx: y\r\ncookie: a=1; b=2\r\n\r\n',
  ],
  ['TE: trailers', [...get, ['te', 'trailers']], true, 'GET / HTTP/1.1\r\nhost: a.test\r\nte: trailers\r\n\r\n'],
]
test.each(written)('%s is written as HTTP/1', (_name, fields, isWhole, text) => {
  expect(textOf(fields, isWhole)).toBe(text)
})

test('a WebSocket is asked for with an Upgrade and a key of its own', () => {
  const [one, two] = [parse(websocket, false), parse(websocket, false)]
  expect(one.head.upgrade).toBe('websocket')
  expect(one.head.method).toBe('GET')
  expect(one.head.text).toContain(`Sec-WebSocket-Key: ${one.websocketKey}\r\nsec-websocket-version: 13\r\n`)
  expect(one.websocketKey).toMatch(/^[\w+/]{22}==$/)
  expect(one.websocketKey).not.toBe(two.websocketKey)
})

const malformed: [string, Fields, boolean?][] = [
  ['no :method', without(':method')],
  ['no :scheme', without(':scheme')],
  ['no :path', without(':path')],
  ['an empty :path', [...without(':path'), [':path', '']]],
  ['a space in :path', [...without(':path'), [':path', '/a b']]],
  ['a second request line in :path', [...without(':path'), [':path', '/ HTTP/1.1\r\nx: y']]],
  ['a fragment in :path', [...without(':path'), [':path', '/#a']]],
  ['a byte above ASCII in :path', [...without(':path'), [':path', '/\xe4']]],
  ['a space in :method', [...without(':method'), [':method', 'GET /x']]],
  ['a line break in :authority', [...without(':authority'), [':authority', 'a\r\nx: y']]],
  ['another :scheme', [...without(':scheme'), [':scheme', 'ftp']]],
  ['a repeated :method', [...get, [':method', 'GET']]],
  ['a repeated :path', [...get, [':path', '/']]],
  ['a pseudo field behind a field', [...without(':path'), ['x', 'y'], [':path', '/']]],
  ['an unknown pseudo field', [...get, [':status', '200']]],
  ['upper case in a name', [...get, ['X-A', 'b']]],
  ['an empty name', [...get, ['', 'b']]],
  ['a colon in a name', [...get, ['x:y', 'b']]],
  ['a space in a name', [...get, ['x y', 'b']]],
  ['a line break in a name', [...get, ['x\r\ny', 'b']]],
  ['CR in a value', [...get, ['x', 'a\rb']]],
  ['LF in a value', [...get, ['x', 'a\nb']]],
  ['NUL in a value', [...get, ['x', 'a\0b']]],
  ['a leading space in a value', [...get, ['x', ' a']]],
  ['a trailing tab in a value', [...get, ['x', 'a\t']]],
  ['Connection', [...get, ['connection', 'close']]],
  ['Keep-Alive', [...get, ['keep-alive', '5']]],
  ['Proxy-Connection', [...get, ['proxy-connection', 'close']]],
  ['Transfer-Encoding', [...post, ['transfer-encoding', 'chunked']], false],
  ['Upgrade', [...get, ['upgrade', 'websocket']]],
  ['a WebSocket key', [...get, ['sec-websocket-key', 'a']]],
  ['TE other than trailers', [...get, ['te', 'gzip']]],
  ['a Host that is not :authority', [...get, ['host', 'b.test']]],
  ['a length without a body', [...post, ['content-length', '3']]],
  ['CONNECT with a :path', [[':method', 'CONNECT'], ...get.slice(1)]],
  ['CONNECT without :authority', [[':method', 'CONNECT']]],
  [':protocol without CONNECT', [...get, [':protocol', 'websocket']], false],
  ['a WebSocket without :path', websocket.filter(([name]) => name !== ':path'), false],
  ['a WebSocket that ends at once', websocket, true],
  ['a WebSocket with a length', [...websocket, ['content-length', '3']], false],
]
test.each(malformed)('%s is malformed', (_name, fields, isWhole = true) => {
  expect(() => parse(fields, isWhole)).toThrow(StreamError)
})

const refused: [string, Fields, number, boolean?][] = [
  ['no host at all', without(':authority'), 400],
  ['an empty :authority', [...without(':authority'), [':authority', '']], 400],
  ['a user in :authority', [...without(':authority'), [':authority', 'me@a.test']], 400],
  ['two hosts', [...without(':authority'), ['host', 'a.test'], ['host', 'a.test']], 400],
  ['a path that is none', [...without(':path'), [':path', 'http://a.test/']], 400],
  ['two lengths', [...post, ['content-length', '3'], ['content-length', '3']], 400, false],
  ['a length that is no number', [...post, ['content-length', '+3']], 400, false],
  ['TRACE', [[':method', 'TRACE'], ...get.slice(1)], 405],
  [
    'CONNECT',
    [
      [':method', 'CONNECT'],
      [':authority', 'a.test:443'],
    ],
    405,
    false,
  ],
  ['a target that is too long', [...without(':path'), [':path', `/${'a'.repeat(20_000)}`]], 414],
  ['too many fields', [...get, ...Array.from({ length: 200 }, (_, index) => [`x-${index}`, 'a'] as const)], 431],
  [
    'another protocol than WebSocket',
    websocket.map(([name, value]) => [name, name === ':protocol' ? 'connect-udp' : value] as const),
    501,
    false,
  ],
]
test.each(refused)('%s is refused as in HTTP/1', (_name, fields, status, isWhole = true) => {
  const error = (() => {
    try {
      parse(fields, isWhole)
    } catch (thrown) {
      return thrown
    }
  })()
  expect(error).toBeInstanceOf(BadMessage)
  expect(error).toMatchObject({ status })
})

test('the same references to the table are parsed once, and anew when one differs', () => {
  const parser = new RequestParser(defaultIngressLimits)
  const fields = get.map(([name, value]) => new HeaderField(name, value))
  const { head } = parser.parse(fields, true)
  expect(parser.parse([...fields], true).head).toBe(head)
  expect(parser.parse(fields, false).head.framing.kind).toBe('chunked')
  expect(parser.parse([...fields.slice(0, 3), new HeaderField(':path', '/b')], false).head.target).toBe('/b')
})

test('trailers are lines, and decide nothing', () => {
  expect(trailerLines([new HeaderField('x-sum', '1'), new HeaderField('x-two', '2')])).toBe('x-sum: 1\r\nx-two: 2\r\n')
  for (const name of [':path', 'host', 'content-length', 'cookie', 'transfer-encoding', 'x-forwarded-for', 'X-A', 'te']) {
    expect(() => trailerLines([new HeaderField(name, 'trailers')])).toThrow(StreamError)
  }
})
