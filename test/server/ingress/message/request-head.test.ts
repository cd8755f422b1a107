import { describe, expect, test } from 'vitest'
import { BadMessage } from '../../../../server/ingress/message/bad-message.ts'
import { parseRequestHead } from '../../../../server/ingress/message/request-head.ts'

const limits = { maxFields: 20, maxTargetBytes: 100 }
const parse = (head: string) => parseRequestHead(head, limits)
const get = (...lines: string[]) => `GET / HTTP/1.1\r\n${['Host: a.example', ...lines].map((line) => `${line}\r\n`).join('')}\r\n`

describe('accepted heads', () => {
  test('the parts of an ordinary head are told apart', () => {
    const head = parse('POST /a%2e/b?c=d HTTP/1.1\r\nHost: A.Example.:8080\r\nX-One:  two \t\r\nContent-Length: 5\r\n\r\n')
    expect(head).toMatchObject({
      method: 'POST',
      target: '/a%2e/b?c=d',
      minorVersion: 1,
      host: 'a.example',
      hostPort: 8080,
      framing: { kind: 'length', bytes: 5 },
      isKeepAlive: true,
    })
    const [, field] = head.fields
    expect([field?.name, field?.value]).toEqual(['x-one', 'two'])
    expect(head.text.slice(field?.from, field?.to)).toBe('X-One:  two \t\r\n')
  })

  const accepted: [string, string, Record<string, unknown>][] = [
    ['chunked in any case', get('Transfer-Encoding: Chunked'), { framing: { kind: 'chunked' } }],
    ['an empty body', get('Content-Length: 0'), { framing: { kind: 'none' } }],
    ['Connection: close', get('Connection: close'), { isKeepAlive: false }],
    ['HTTP/1.0 closes', 'GET / HTTP/1.0\r\nHost: a\r\n\r\n', { isKeepAlive: false, minorVersion: 0 }],
    ['HTTP/1.0 may keep alive', 'GET / HTTP/1.0\r\nHost: a\r\nConnection: Keep-Alive\r\n\r\n', { isKeepAlive: true }],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n', { target: '*' }],
    ['an IPv6 host', 'GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n', { host: '[::1]', hostPort: 80 }],
    ['bytes above ASCII in a value', get('X: caf\xe9'), {}],
    ['an upgrade', get('Connection: keep-alive, Upgrade', 'Upgrade: websocket'), { upgrade: 'websocket' }],
    ['h2c is no upgrade', get('Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c'), { upgrade: undefined }],
    ['an upgrade with a body is none', get('Connection: Upgrade', 'Upgrade: websocket', 'Content-Length: 3'), { upgrade: undefined }],
  ]
  test.each(accepted)('%s', (_name, head, expected) => {
    expect(parse(head)).toMatchObject(expected)
  })
})

describe('refused heads', () => {
  const refused: [string, string, number][] = [
    ['both lengths', get('Content-Length: 3', 'Transfer-Encoding: chunked'), 400],
    ['both lengths, the other way round', get('Transfer-Encoding: chunked', 'Content-Length: 3'), 400],
    ['differing Content-Lengths', get('Content-Length: 3', 'Content-Length: 4'), 400],
    ['equal Content-Lengths', get('Content-Length: 3', 'Content-Length: 3'), 400],
    ['a list of Content-Lengths', get('Content-Length: 3, 3'), 400],
    ['a signed Content-Length', get('Content-Length: +3'), 400],
    ['a negative Content-Length', get('Content-Length: -1'), 400],
    ['a hexadecimal Content-Length', get('Content-Length: 0x3'), 400],
    ['an empty Content-Length', get('Content-Length:'), 400],
    ['a Content-Length beyond exact numbers', get('Content-Length: 99999999999999999999'), 400],
    ['repeated Transfer-Encoding', get('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'), 400],
    ['gzip, chunked', get('Transfer-Encoding: gzip, chunked'), 400],
    ['chunked, identity', get('Transfer-Encoding: chunked, identity'), 400],
    ['xchunked', get('Transfer-Encoding: xchunked'), 400],
    ['a vertical tab before chunked', get('Transfer-Encoding: \x0bchunked'), 400],
    ['a no-break space before chunked', get('Transfer-Encoding: \xa0chunked'), 400],
    ['a tab before chunked', get('Transfer-Encoding: \tchunked'), 400],
    ['a tab behind chunked', get('Transfer-Encoding: chunked\t'), 400],
    ['a tab behind a Content-Length', get('Content-Length: 3\t'), 400],
    ['quoted chunked', get('Transfer-Encoding: "chunked"'), 400],
    ['Transfer-Encoding in HTTP/1.0', 'POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
    ['Connection naming Content-Length', get('Connection: close, Content-Length', 'Content-Length: 3'), 400],
    ['Connection naming Transfer-Encoding', get('Connection: transfer-encoding', 'Transfer-Encoding: chunked'), 400],
    ['Connection naming Host', get('Connection: Host'), 400],
    ['white space before the colon', get('X-A : b'), 400],
    ['a tab before the colon', get('X-A\t: b'), 400],
    ['a header line without a colon', get('X-A'), 400],
    ['an empty header name', get(': b'), 400],
    ['a folded line', get('X-A: b', ' c'), 400],
    ['a line folded by a tab', get('X-A: b', '\tc'), 400],
    ['a first line that is folded', 'GET / HTTP/1.1\r\n Host: a\r\nHost: b\r\n\r\n', 400],
    ['a bare LF in a value', get('X-A: b\nX-B: c'), 400],
    ['a bare CR in a value', get('X-A: b\rX-B: c'), 400],
    ['NUL in a value', get('X-A: b\0c'), 400],
    ['NUL in a name', get('X\0A: b'), 400],
    ['DEL in a value', get('X-A: b\x7fc'), 400],
    ['a name above ASCII', get('X-\xe9: b'), 400],
    ['a name in brackets', get('X(A): b'), 400],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['two Hosts', get('Host: a.example'), 400],
    ['an empty Host', 'GET / HTTP/1.1\r\nHost:\r\n\r\n', 400],
    ['a Host with a path', 'GET / HTTP/1.1\r\nHost: a/b\r\n\r\n', 400],
    ['a Host with a user', 'GET / HTTP/1.1\r\nHost: u@a\r\n\r\n', 400],
    ['a list of Hosts', 'GET / HTTP/1.1\r\nHost: a, b\r\n\r\n', 400],
    ['an absolute target', 'GET http://b.example/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a target without a slash', 'GET a HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['GET *', 'GET * HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['an empty target', 'GET  HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['two spaces before the version', 'GET /  HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a tab for a space', 'GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a space in the target', 'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a fragment', 'GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a target above ASCII', 'GET /\xe9 HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['no version', 'GET /\r\nHost: a\r\n\r\n', 400],
    ['a version in lower case', 'GET / http/1.1\r\nHost: a\r\n\r\n', 400],
    ['a space behind the version', 'GET / HTTP/1.1 \r\nHost: a\r\n\r\n', 400],
    ['an empty line first', '\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a method that is no token', 'G@T / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
    ['TRACE', 'TRACE / HTTP/1.1\r\nHost: a\r\n\r\n', 405],
    ['HTTP/2 in clear', 'PRI * HTTP/2.0\r\n\r\n', 505],
    ['HTTP/1.2', 'GET / HTTP/1.2\r\nHost: a\r\n\r\n', 505],
    ['a target that is too long', `GET /${'a'.repeat(100)} HTTP/1.1\r\nHost: a\r\n\r\n`, 414],
    ['too many lines', get(...Array.from({ length: 20 }, (_, index) => `X-${index}: y`)), 431],
  ]
  test.each(refused)('%s', (_name, head, status) => {
    const error = thrownBy(() => parse(head))
    expect(error).toBeInstanceOf(BadMessage)
    expect(error).toMatchObject({ status })
  })
})

function thrownBy(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}
