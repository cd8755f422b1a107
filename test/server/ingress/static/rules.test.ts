import { describe, expect, test } from 'vitest'
import { compilePattern, fillPath, MatchBudget, matchPath } from '../../../../server/ingress/rules/path-pattern.ts'
import { parseRange } from '../../../../server/ingress/static/byte-range.ts'
import { isFresh, isRangeCurrent } from '../../../../server/ingress/static/conditional.ts'
import { contentTypeOf, isCompressible } from '../../../../server/ingress/static/content-type.ts'
import { acceptedEncodings } from '../../../../server/ingress/static/encoding.ts'
import { parseRequestPath } from '../../../../server/ingress/static/request-path.ts'

describe('request paths', () => {
  const accepted: [string, string[], boolean][] = [
    ['/', [], true],
    ['/a/b', ['a', 'b'], false],
    ['/a/', ['a'], true],
    ['//a///b', ['a', 'b'], false],
    ['/a%20b/%C3%A9', ['a b', 'é'], false],
    ['/%252e%252e/a', ['%2e%2e', 'a'], false],
    ['/.well-known/acme/x', ['.well-known', 'acme', 'x'], false],
    ['/a..b', ['a..b'], false],
  ]
  test.each(accepted)('%s', (target, segments, hasTrailingSlash) => {
    expect(parseRequestPath(target)).toMatchObject({ segments, hasTrailingSlash })
  })

  const refused = [
    '/..',
    '/a/../b',
    '/%2e%2e/a',
    '/..%2f..%2fetc/passwd',
    '/a/.',
    '/.env',
    '/.git/config',
    '/a/.well-known/x',
    '/a%00b',
    '/a%0ab',
    '/%zz',
    '/%ff',
  ]
  test.each(refused)('%s is refused', (target) => {
    expect(parseRequestPath(target)).toBeUndefined()
  })

  test('the query is kept apart', () => {
    expect(parseRequestPath('/a?b=/../c')).toEqual({ segments: ['a'], hasTrailingSlash: false, query: '?b=/../c' })
  })
})

describe('patterns of rules', () => {
  const matches: [string, string, string, string][] = [
    ['/*', '/a/b', '/index.html', '/index.html'],
    ['/old/*', '/old/a/b', '/new/*', '/new/a/b'],
    ['/blog/:year/:slug', '/blog/2020/x y', '/posts/:slug?y=:year', '/posts/x%20y?y=:year'],
    ['/u/:id', '/u/7', 'https://example.com:8443/u/:id', 'https://example.com:8443/u/7'],
    ['/:a/x/*', '/1/x/2/3', '/*/:a', '/2/3/1'],
    ['/*.png', '/img/a.png', '/assets/*.webp', '/assets/img/a.webp'],
    ['/*/c/*', '/a/b/c/d', '/*', '/a/b'],
    ['/old*', '/old/evil.example/a', '/*', '/evil.example/a'],
    ['/old*', '/old/a', 'https://example.com/*', 'https://example.com//a'],
  ]
  test.each(matches)('%s matches %s', (source, path, destination, expected) => {
    const match = matchPath(compilePattern(source), path, new MatchBudget())
    expect(match && fillPath(destination, match)).toBe(expected)
  })

  const others: [string, string][] = [
    ['/a', '/a/'],
    ['/a', '/ab'],
    ['/u/:id', '/u/'],
    ['/u/:id', '/u/1/2'],
    ['/*.png', '/a.jpg'],
    ['/a.b', '/axb'],
  ]
  test.each(others)('%s does not match %s', (source, path) => {
    expect(matchPath(compilePattern(source), path, new MatchBudget())).toBeUndefined()
  })
})

test('ranges', () => {
  expect(parseRange('bytes=0-4', 10)).toEqual({ start: 0, end: 5 })
  expect(parseRange('bytes=5-', 10)).toEqual({ start: 5, end: 10 })
  expect(parseRange('bytes=-3', 10)).toEqual({ start: 7, end: 10 })
  expect(parseRange('bytes=-30', 10)).toEqual({ start: 0, end: 10 })
  expect(parseRange('bytes=0-99', 10)).toEqual({ start: 0, end: 10 })
  for (const beyond of ['bytes=10-', 'bytes=10-12', 'bytes=-0']) expect(parseRange(beyond, 10)).toBe('unsatisfiable')
  for (const ignored of [undefined, 'bytes=-', 'bytes=4-2', 'lines=0-1', 'bytes=0-1,4-5', 'bytes=a-b'])
    expect(parseRange(ignored, 10)).toBeUndefined()
})

test('conditions', () => {
  const current = { etag: '"x1"', modifiedAt: Date.UTC(2026, 0, 1) }
  const none = { ifNoneMatch: undefined, ifModifiedSince: undefined, ifRange: undefined }
  expect(isFresh(none, current)).toBe(false)
  expect(isFresh({ ...none, ifNoneMatch: '"a", W/"x1"' }, current)).toBe(true)
  expect(isFresh({ ...none, ifNoneMatch: '*' }, current)).toBe(true)
  expect(isFresh({ ...none, ifNoneMatch: '"a"', ifModifiedSince: 'Thu, 01 Jan 2026 00:00:00 GMT' }, current)).toBe(false)
  expect(isFresh({ ...none, ifModifiedSince: 'Thu, 01 Jan 2026 00:00:00 GMT' }, current)).toBe(true)
  expect(isFresh({ ...none, ifModifiedSince: 'Wed, 31 Dec 2025 00:00:00 GMT' }, current)).toBe(false)
  expect(isFresh({ ...none, ifModifiedSince: 'yesterday' }, current)).toBe(false)
  expect(isRangeCurrent({ ...none, ifRange: '"x1"' }, current)).toBe(true)
  expect(isRangeCurrent({ ...none, ifRange: 'W/"x1"' }, current)).toBe(false)
  expect(isRangeCurrent({ ...none, ifRange: 'Thu, 01 Jan 2026 00:00:00 GMT' }, current)).toBe(true)
})

test('encodings by weight, ours where the client does not mind', () => {
  expect(acceptedEncodings(undefined)).toEqual([])
  expect(acceptedEncodings('gzip, deflate, br, zstd')).toEqual(['br', 'zstd', 'gzip'])
  expect(acceptedEncodings('br;q=0.2, gzip;q=0.8')).toEqual(['gzip', 'br'])
  expect(acceptedEncodings('*;q=0.5, br;q=0')).toEqual(['zstd', 'gzip'])
  expect(acceptedEncodings('identity')).toEqual([])
})

test('content types by extension', () => {
  expect(contentTypeOf('a/b.html')).toMatch(/^text\/html/)
  expect(contentTypeOf('app.MJS')).toMatch(/^text\/javascript/)
  expect(contentTypeOf('site.webmanifest')).toBe('application/manifest+json')
  expect(contentTypeOf('a.woff2')).toBe('font/woff2')
  expect(contentTypeOf('LICENSE')).toBe('application/octet-stream')
  expect(isCompressible(contentTypeOf('a.svg'))).toBe(true)
  expect(isCompressible(contentTypeOf('a.css'))).toBe(true)
  expect(isCompressible(contentTypeOf('a.js'))).toBe(true)
  expect(isCompressible(contentTypeOf('a.json'))).toBe(true)
  expect(isCompressible(contentTypeOf('a.png'))).toBe(false)
})
