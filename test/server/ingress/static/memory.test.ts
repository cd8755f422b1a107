import { describe, expect, test } from 'vitest'
import { parseRequestHead } from '../../../../server/ingress/message/request-head.ts'
import { readAsked } from '../../../../server/ingress/static/asked.ts'
import { ByteCache } from '../../../../server/ingress/static/byte-cache.ts'
import { acceptedCodings } from '../../../../server/ingress/static/encoding.ts'
import { PIECE_BYTES, toPieces } from '../../../../server/ingress/static/pieces.ts'

describe('the cache', () => {
  test('lets go of what was not used when there is no room', () => {
    const cache = new ByteCache<number>(30)
    for (const key of [1, 2, 3]) cache.set(`k${key}`, key, 10)
    expect(cache.get('k1')).toBe(1)
    cache.set('k4', 4, 10)
    expect([1, 2, 3, 4].map((key) => cache.get(`k${key}`))).toEqual([1, undefined, 3, 4])
  })

  test('lets go of the oldest where all were used', () => {
    const cache = new ByteCache<number>(20)
    for (const key of [1, 2]) cache.set(`k${key}`, key, 10)
    for (const key of [1, 2]) cache.get(`k${key}`)
    cache.set('k3', 3, 20)
    expect([1, 2, 3].map((key) => cache.get(`k${key}`))).toEqual([undefined, undefined, 3])
  })

  test('does not take what is larger than itself, and forgets what it would have replaced', () => {
    const cache = new ByteCache<number>(20)
    cache.set('a', 1, 10)
    cache.set('a', 2, 21)
    expect(cache.get('a')).toBeUndefined()
    cache.set('b', 3, 20)
    expect(cache.get('b')).toBe(3)
  })
})

test('what a request says of the answer it wants, whatever the case and order of its fields', () => {
  const lines = 'Host: a.test\r\nACCEPT-ENCODING: gzip\r\nx-range: no\r\nIf-None-Match:"a"\r\naccept-encoding:\tbr \r\nRange: bytes=0-\r\n'
  const head = parseRequestHead(`GET / HTTP/1.1\r\n${lines}\r\n`, { maxFields: 20, maxTargetBytes: 100 })
  expect(readAsked(head)).toEqual({
    range: 'bytes=0-',
    ifRange: undefined,
    ifNoneMatch: '"a"',
    ifModifiedSince: undefined,
    acceptEncoding: 'gzip, br',
  })
})

test('the file as it is comes last among the codings, and the same header gives the same answer again', () => {
  for (const _ of [1, 2]) expect(acceptedCodings('gzip, br;q=0.1')).toEqual(['gzip', 'br', 'identity'])
  expect(acceptedCodings(undefined)).toEqual(['identity'])
})

test('no piece of a file keeps the memory of the others', () => {
  const bytes = Buffer.from(Array.from({ length: 2 * PIECE_BYTES + 5 }, (_, index) => index % 251))
  const { sizeBytes, parts } = toPieces(bytes)
  expect(sizeBytes).toBe(bytes.length)
  expect(parts.map(({ length, buffer }) => [length, buffer.byteLength])).toEqual([PIECE_BYTES, PIECE_BYTES, 5].map((size) => [size, size]))
  expect(Buffer.concat(parts).equals(bytes)).toBe(true)
})
