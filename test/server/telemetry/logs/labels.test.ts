import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { compileFilter, type LogFilter, matches } from '../../../../server/telemetry/logs/filter.ts'
import { compileLabel, holdsLabel } from '../../../../server/telemetry/logs/label-pattern.ts'
import type { LogLine } from '../../../../server/telemetry/logs/line.ts'
import { requestMessage } from '../../../../server/telemetry/logs/request-line.ts'
import { BASE_MS, type Fixture, makeLine, makeStore, randomFrom } from './fixture.ts'

let fixture: Fixture
beforeEach(() => {
  fixture = makeStore()
})
afterEach(() => fixture.remove())

const hosts = ['shop.test', 'www.shop.test', '[::1]']
const methods = ['GET', 'POST', 'OPTIONS']
const codes = ['200', '301', '404', '499', '503']
const targets = ['/', '/api/users?page=1', '/api/users/7', '/Straße', '*', '/a\\x22b', '/very/long/path/to/some/thing.html?x=y']

function requestLine(number: number, random: (below: number) => number) {
  const pick = (values: readonly string[]): string => values[random(values.length)] ?? ''
  const target = random(50) === 0 ? `/rare/${number}` : pick(targets)
  const [path = ''] = target.split('?')
  const labels = { host: pick(hosts), method: pick(methods), statusCode: pick(codes), path }
  const facts = { labels, target, clientAddress: '127.0.0.1', requestId: `id-${number}`, durationMs: '1', receivedBytes: 0, sentBytes: 0 }
  const message = requestMessage({ ...facts, protocol: 'HTTP/1.1', userAgent: 'curl/8', referer: '', cutOffBy: undefined })
  return makeLine(message, { type: 'request', labels, timestampMs: BASE_MS + number, resource: `srv-${random(2)}` })
}

/** Enough for chunks that are joined for good and carry a filter of their text. */
function fill(count: number): LogLine[] {
  const random = randomFrom(5)
  const stored: LogLine[] = []
  for (let number = 0; number < count; ) {
    const batch = Array.from({ length: 1 + random(200) }, () =>
      random(4) === 0
        ? makeLine(`[GET] 200 shop.test/api of an app ${number++}`, { timestampMs: BASE_MS + number })
        : requestLine(number++, random),
    )
    stored.push(...fixture.store.append(batch))
  }
  return stored
}

async function found(filter: LogFilter): Promise<LogLine[]> {
  const lines: LogLine[] = []
  let range = {}
  for (;;) {
    const page = await fixture.store.query({ ...filter, ...range, direction: 'forward', limit: 100 })
    lines.push(...page.logs)
    if (!page.hasMore) return lines
    range = { startAt: page.nextStartAt, endAt: page.nextEndAt }
  }
}

describe('lines of requests', () => {
  test('are found in the store exactly when the same test passes them live', async () => {
    const lines = fill(12_000)
    const random = randomFrom(11)
    const some = (values: readonly string[]): string[] => Array.from({ length: 1 + random(2) }, () => values[random(values.length)] ?? '')
    const paths = ['/', '/api/users', '/rare/77', '/rare/*', '/Straße', '*', '/a\\x22b', '/very/*/thing.html', '/nowhere']
    for (let round = 0; round < 60; round++) {
      const filter: LogFilter = {
        resource: random(2) === 0 ? 'any' : ['srv-0'],
        ...(random(2) === 0 ? { path: some(paths) } : {}),
        ...(random(2) === 0 ? { statusCode: some([...codes, '5*', '4*', '2']) } : {}),
        ...(random(3) === 0 ? { method: some([...methods, 'get', 'P*']) } : {}),
        ...(random(3) === 0 ? { host: some([...hosts, 'SHOP.test', '*.shop.test']) } : {}),
        ...(random(4) === 0 ? { type: ['app', 'request'] as const } : {}),
      }
      const wanted = compileFilter(filter)
      expect(await found(filter)).toEqual(lines.filter((line) => matches(line, wanted)))
    }
  })

  test('a rare path among many is found', async () => {
    const lines = fill(8000)
    const rare = lines.filter(({ labels }) => labels?.path?.startsWith('/rare/')).slice(0, 5)
    expect(rare.length).toBe(5)
    for (const { labels, seq } of rare)
      expect((await found({ resource: 'any', path: [labels?.path ?? ''] })).map((line) => line.seq)).toEqual([seq])
  })

  test('labels of requests are not looked for in lines of an app', async () => {
    fill(500)
    expect((await found({ resource: 'any', type: ['app'], statusCode: ['200'] })).length).toBe(0)
    expect((await found({ resource: 'any', method: ['GET'] })).every(({ type }) => type === 'request')).toBe(true)
  })

  test('the values of their labels are told', () => {
    fill(500)
    expect(fixture.store.values('statusCode', { resource: 'any', type: ['request'] })).toEqual(codes)
    expect(fixture.store.values('method', { resource: 'any', host: ['shop.test'] })).toEqual(methods.toSorted())
  })
})

describe('a pattern', () => {
  const likes: [string, string, boolean][] = [
    ['/a', '/a', true],
    ['/a', '/ab', false],
    ['*', '', true],
    ['/api/*', '/api/', true],
    ['/api/*', '/api', false],
    ['*.css', '/x/y.css', true],
    ['*.css', '/x/y.css.map', false],
    ['/a*a', '/a', false],
    ['/a*a', '/aa', true],
    ['/*/b/*', '/a/b/c', true],
    ['/*/b/*', '/b/c', false],
    ['.*', '/anything', false],
    ['**', 'x', true],
  ]
  test.each(likes)('%s for %s: %s', (pattern, value, isLike) => {
    expect(holdsLabel({ path: value }, compileLabel('path', [pattern]))).toBe(isLike)
  })

  test('of very many stars is as fast as any other', () => {
    const pattern = compileLabel('path', [`${'*a'.repeat(1000)}b`])
    expect(holdsLabel({ path: 'a'.repeat(2000) }, pattern)).toBe(false)
  })
})
