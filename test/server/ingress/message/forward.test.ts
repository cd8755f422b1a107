import { expect, test } from 'vitest'
import { parseFieldLines } from '../../../../server/ingress/message/field-lines.ts'
import { requestIdOf } from '../../../../server/ingress/message/forward-request.ts'
import { parseRequestHead } from '../../../../server/ingress/message/request-head.ts'
import { parseResponseHead } from '../../../../server/ingress/message/response-head.ts'
import { forwardedRequest, forwardedResponse } from '../../../support/forwarded-heads.ts'

const limits = { maxFields: 50, maxTargetBytes: 1000 }
const origin = { address: '198.51.100.7', isTrusted: false, scheme: 'http', requestId: 'req-1' } as const

function forward(lines: string[], isTrusted = false): string[] {
  const head = parseRequestHead(`GET /%2e%2e//x?y HTTP/1.1\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`, limits)
  return forwardedRequest(head, { ...origin, isTrusted })
    .split('\r\n')
    .slice(0, -2)
}

const added = [
  'X-Forwarded-For: 198.51.100.7',
  'X-Forwarded-Proto: http',
  'X-Forwarded-Host: a.example:81',
  'X-Forwarded-Port: 81',
  'X-Request-Id: req-1',
]

test('the request goes on as it came, with where it comes from', () => {
  expect(forward(['Host: a.example:81', 'X-CaSe:  kept ', 'Cookie: a=b', 'Cookie: c=d'])).toEqual([
    'GET /%2e%2e//x?y HTTP/1.1',
    'Host: a.example:81',
    'X-CaSe:  kept ',
    'Cookie: a=b',
    'Cookie: c=d',
    ...added,
  ])
})

test('hop-by-hop headers end here, those that Connection names included', () => {
  const dropped = [
    'Connection: keep-alive, X-Secret',
    'X-Secret: 1',
    'Keep-Alive: timeout=5',
    'Proxy-Connection: a',
    'Proxy-Authorization: b',
    'TE: gzip',
    'Upgrade: h2c',
  ]
  expect(forward(['Host: a.example:81', ...dropped])).toEqual(['GET /%2e%2e//x?y HTTP/1.1', 'Host: a.example:81', ...added])
})

test('forged forwarded headers are dropped, their twins with underscores too', () => {
  const forged = [
    'X-Forwarded-For: 127.0.0.1',
    'x-forwarded-proto: https',
    'X-Forwarded-Anything: 1',
    'Forwarded: for=127.0.0.1',
    'X-Real-IP: 1',
    'X_Forwarded_For: 1',
    'X-Forwarded_Host: 2',
    'Content_Length: 3',
    'Transfer_Encoding: chunked',
  ]
  expect(forward(['Host: a.example:81', ...forged, 'Connection: X-Forwarded-For'])).toEqual([
    'GET /%2e%2e//x?y HTTP/1.1',
    'Host: a.example:81',
    ...added,
  ])
})

test('a trusted proxy may speak for its client', () => {
  const lines = forward(
    [
      'Host: a.example',
      'X-Forwarded-For: 203.0.113.9',
      'X-Forwarded-Proto: https',
      'X-Forwarded-Host: www.example',
      'X-Forwarded-Port: 443',
    ],
    true,
  )
  expect(lines.slice(2)).toEqual([
    'X-Forwarded-Proto: https',
    'X-Forwarded-Host: www.example',
    'X-Forwarded-Port: 443',
    'X-Forwarded-For: 203.0.113.9, 198.51.100.7',
    'X-Request-Id: req-1',
  ])
})

test('what a trusted proxy lets Connection name is dropped and told anew', () => {
  const lines = forward(
    ['Host: a.example', 'Connection: X-Forwarded-Proto, x-forwarded-host', 'X-Forwarded-Proto: https', 'X-Forwarded-Host: b'],
    true,
  )
  expect(lines.slice(2)).toEqual([
    'X-Forwarded-For: 198.51.100.7',
    'X-Forwarded-Proto: http',
    'X-Forwarded-Host: a.example',
    'X-Forwarded-Port: 80',
    'X-Request-Id: req-1',
  ])
})

test('an upgrade is asked for anew', () => {
  expect(forward(['Host: a.example:81', 'Connection: Upgrade', 'Upgrade: websocket'])).toContain('Upgrade: websocket')
})

test('a request id is passed on only while it is harmless', () => {
  const idOf = (value: string) => requestIdOf(parseFieldLines(`X-Request-Id: ${value}\r\n\r\n`, 0, 1))
  expect(idOf('abc-12345678')).toBe('abc-12345678')
  expect(idOf('<script>alert(1)</script>')).toMatch(/^[0-9a-f-]{36}$/)
  expect(requestIdOf([])).toMatch(/^[0-9a-f-]{36}$/)
})

function respondTo(
  head: string,
  { minorVersion = 1, method = 'GET', isKeptAlive = true }: { minorVersion?: 0 | 1; method?: string; isKeptAlive?: boolean } = {},
) {
  return forwardedResponse(parseResponseHead(head, method, 50), { minorVersion, method, isKeptAlive, headers: [] })
}

test('the response goes on as it came, less its hop-by-hop headers', () => {
  const head =
    'HTTP/1.1 299 Odd  One\r\nDate: now\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nContent-Length: 3\r\n\r\n'
  expect(respondTo(head)).toBe('HTTP/1.1 299 Odd  One\r\nDate: now\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nContent-Length: 3\r\n\r\n')
})

test('an answer without a date is given one', () => {
  expect(respondTo('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n')).toMatch(/\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/)
})

test('a client that will be left is told so', () => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n'
  expect(respondTo(head, { isKeptAlive: false })).toContain('Connection: close\r\n')
  expect(respondTo(head, { minorVersion: 0 })).toContain('Connection: keep-alive\r\n')
})

test('a response without a body says nothing of one', () => {
  expect(respondTo('HTTP/1.1 204 No Content\r\nDate: now\r\nContent-Length: 0\r\n\r\n')).toBe(
    'HTTP/1.1 204 No Content\r\nDate: now\r\n\r\n',
  )
  expect(respondTo('HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n')).toContain('Content-Length: 9')
  expect(respondTo('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', { minorVersion: 0 })).not.toContain('chunked')
})
