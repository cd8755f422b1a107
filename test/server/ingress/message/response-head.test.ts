import { describe, expect, test } from 'vitest'
import { parseResponseHead } from '../../../../server/ingress/message/response-head.ts'

const parse = (head: string, method = 'GET') => parseResponseHead(head, method, 20)

describe('how a response is delimited', () => {
  const framings: [string, string, string, string][] = [
    ['by its length', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n', 'GET', 'length'],
    ['by chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', 'GET', 'chunked'],
    ['by the end of the connection', 'HTTP/1.1 200 OK\r\n\r\n', 'GET', 'until-close'],
    ['HEAD has no body', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n', 'HEAD', 'none'],
    ['204 has no body', 'HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\n', 'GET', 'none'],
    ['304 has no body', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n', 'GET', 'none'],
    ['1xx has no body', 'HTTP/1.1 103 Early Hints\r\n\r\n', 'GET', 'none'],
    ['without a reason', 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n', 'GET', 'length'],
  ]
  test.each(framings)('%s', (_name, head, method, kind) => {
    expect(parse(head, method).framing.kind).toBe(kind)
  })

  test('an answer that ends with its connection cannot be followed by another', () => {
    expect(parse('HTTP/1.1 200 OK\r\n\r\n').isKeepAlive).toBe(false)
    expect(parse('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n').isKeepAlive).toBe(false)
    expect(parse('HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n').isKeepAlive).toBe(false)
    expect(parse('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n').isKeepAlive).toBe(true)
  })
})

const refused: [string, string][] = [
  ['both lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n'],
  ['differing lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n'],
  ['chunks in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'],
  ['a folded line', 'HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n'],
  ['NUL', 'HTTP/1.1 200 OK\r\nX: a\0\r\n\r\n'],
  ['a bare LF in the reason', 'HTTP/1.1 200 O\nK\r\n\r\n'],
  ['no status', 'HTTP/1.1 OK\r\n\r\n'],
  ['another protocol', 'ICY 200 OK\r\n\r\n'],
  ['HTTP/2', 'HTTP/2 200\r\n\r\n'],
]
test.each(refused)('a response with %s is refused', (_name, head) => {
  expect(() => parse(head)).toThrow()
})
