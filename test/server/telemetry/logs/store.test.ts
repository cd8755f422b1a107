import { Database } from 'bun:sqlite'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { compileFilter, type LogFilter, matches } from '../../../../server/telemetry/logs/filter.ts'
import type { LogLine } from '../../../../server/telemetry/logs/line.ts'
import { type LogQueryOptions, openLogStore } from '../../../../server/telemetry/logs/store.ts'
import { type LogType, logLevels } from '../../../../shared/log.ts'
import { BASE_MS, type Fixture, makeLine, makeStore, randomFrom } from './fixture.ts'

let fixture: Fixture
beforeEach(() => {
  fixture = makeStore()
})
afterEach(() => fixture.remove())

async function allPages(options: LogQueryOptions): Promise<LogLine[]> {
  const lines: LogLine[] = []
  let { startAt, endAt } = options
  for (let pages = 0; pages < 10_000; pages++) {
    const range = { ...(startAt === undefined ? {} : { startAt }), ...(endAt === undefined ? {} : { endAt }) }
    const page = await fixture.store.query({ ...options, ...range })
    lines.push(...page.logs)
    if (!page.hasMore) return lines
    startAt = page.nextStartAt
    endAt = page.nextEndAt
  }
  throw new Error('paging does not end')
}

const words = ['alpha', 'Beta', 'gamma', 'ERROR', 'naïve', 'ΣΊΣΥΦΟΣ', '日本語', 'x', '"', '%', 'timeout=30s', '🦊', 'id-4f2a9c']

function fill(seed: number, count: number): LogLine[] {
  const random = randomFrom(seed)
  const stored: LogLine[] = []
  let clock = BASE_MS
  while (stored.length < count) {
    const batch = Array.from({ length: 1 + random(60) }, () => {
      // Mostly forward, often the same millisecond, now and then a clock that is set back or jumps.
      const move = random(100)
      clock += move < 50 ? 0 : move < 97 ? random(40) : move === 97 ? -5000 : move === 98 ? 3000 : -300
      const resource = `srv-${random(3)}`
      return makeLine(Array.from({ length: random(5) }, () => words[random(words.length)]).join(' '), {
        timestampMs: clock,
        resource,
        instance: `${resource}-${random(3)}`,
        type: (['app', 'build', 'request'] as const)[random(3)] ?? 'app',
        level: logLevels[random(logLevels.length)] ?? 'info',
        ...(random(2) === 0 ? { deployId: `dep-${random(4)}` } : {}),
        ...(random(4) === 0 ? { labels: { path: `/p/${random(5)}` } } : {}),
      })
    })
    stored.push(...fixture.store.append(batch))
  }
  return stored
}

function someFilter(random: (n: number) => number, lines: readonly LogLine[]): LogFilter {
  const time = () => lines[random(lines.length)]?.at ?? 0
  const types: LogType[] = ['app', 'build']
  return {
    resource: random(3) === 0 ? 'any' : [`srv-${random(3)}`, `srv-${random(3)}`],
    ...(random(3) === 0 ? { instance: [`srv-${random(3)}-${random(3)}`] } : {}),
    ...(random(3) === 0 ? { level: ['WARN', 'error', logLevels[random(8)] ?? 'info'] } : {}),
    ...(random(3) === 0 ? { type: types } : {}),
    ...(random(2) === 0 ? { text: [words[random(words.length)] ?? '', ...(random(3) === 0 ? ['beta "alpha gamma"'] : [])] } : {}),
    ...(random(3) === 0 ? { startAt: time() } : {}),
    ...(random(3) === 0 ? { endAt: time() } : {}),
  }
}

const byTime = (a: LogLine, b: LogLine) => a.at - b.at || a.seq - b.seq

describe('searching', () => {
  test('stored lines are found exactly when the same test passes them live, in both directions and page by page', async () => {
    const lines = fill(7, 6000)
    const random = randomFrom(99)
    for (let round = 0; round < 60; round++) {
      const filter = someFilter(random, lines)
      const wanted = compileFilter(filter)
      const expected = lines.filter((line) => matches(line, wanted)).sort(byTime)
      const limit = 1 + random(100)
      expect(await allPages({ ...filter, direction: 'forward', limit })).toEqual(expected)
      expect(await allPages({ ...filter, direction: 'backward', limit })).toEqual(expected.toReversed())
    }
  })

  test('arrival order gives every line once, whatever the page size', async () => {
    const lines = fill(11, 3000)
    for (const limit of [1000, 97, 7]) {
      const filter = compileFilter({ resource: 'any', type: ['app'] })
      const read: LogLine[] = []
      for (let fromSeq = 500; fromSeq < fixture.store.nextSeq(); ) {
        const page = await fixture.store.readArrival({ test: filter, fromSeq, untilSeq: fixture.store.nextSeq(), limit })
        read.push(...page.lines)
        expect(page.nextSeq).toBeGreaterThan(fromSeq)
        fromSeq = page.nextSeq
      }
      expect(read).toEqual(lines.filter((line) => line.seq >= 500 && line.type === 'app'))
    }
  })

  test('a search that runs out of time says where to go on and loses nothing', async () => {
    const lines = fill(5, 4000).sort(byTime)
    expect(await allPages({ resource: 'any', direction: 'forward', limit: 100, searchMs: 0 })).toEqual(lines)
    expect(await allPages({ resource: 'any', direction: 'backward', limit: 100, searchMs: 0 })).toEqual(lines.toReversed())
  })

  test('lines of one millisecond are paged until empty without loss or repetition', async () => {
    const stored = fixture.store.append(Array.from({ length: 5000 }, (_, i) => makeLine(`line ${i}`)))
    expect(new Set(stored.map((line) => line.at)).size).toBe(5000)
    expect(await allPages({ resource: ['srv-a'], direction: 'backward', limit: 33 })).toEqual(stored.toReversed())
  })

  test('an empty list of services sees nothing', async () => {
    fixture.store.append([makeLine('secret')])
    expect((await fixture.store.query({ resource: [] })).logs).toEqual([])
    expect(fixture.store.values('instance', { resource: [] })).toEqual([])
  })

  test('unknown levels find nothing instead of everything', async () => {
    fixture.store.append([makeLine('x')])
    expect((await fixture.store.query({ resource: 'any', level: ['nonsense'] })).logs).toEqual([])
  })

  test('the limit is clamped to 1 and 100', async () => {
    fixture.store.append(Array.from({ length: 300 }, (_, i) => makeLine(`${i}`)))
    expect((await fixture.store.query({ resource: 'any', limit: 5000 })).logs).toHaveLength(100)
    expect((await fixture.store.query({ resource: 'any', limit: 0 })).logs).toHaveLength(1)
    expect((await fixture.store.query({ resource: 'any' })).logs).toHaveLength(20)
  })

  test('a search keeps its picture while lines are added and joined', async () => {
    const stored = fixture.store.append(Array.from({ length: 90 }, (_, i) => makeLine(`old ${i} ${'y'.repeat(900)}`)))
    const page = fixture.store.query({ resource: 'any', limit: 100, text: ['old'] })
    for (let i = 0; i < 200; i++) fixture.store.append([makeLine(`new ${i}`)])
    expect((await page).logs).toEqual(stored.toReversed())
  })

  test('many searches at once all get their answer', async () => {
    const lines = fill(13, 2000).sort(byTime)
    const pages = await Promise.all(Array.from({ length: 100 }, () => fixture.store.query({ resource: 'any', limit: 50, text: ['a'] })))
    const test = compileFilter({ resource: 'any', text: ['a'] })
    const expected = lines
      .filter((line) => matches(line, test))
      .slice(-50)
      .toReversed()
    for (const page of pages) expect(page.logs).toEqual(expected)
  })

  test('an aborted search ends', async () => {
    fill(3, 2000)
    const signal = AbortSignal.abort(new Error('gone'))
    const search = fixture.store.query({ resource: 'any', text: ['nowhere'], searchMs: 60_000, signal })
    await search.catch((error: unknown) => expect(error).toMatchObject({ message: 'gone' }))
    expect((await fixture.store.query({ resource: 'any', limit: 1 })).logs).toHaveLength(1)
  })
})

describe('text', () => {
  const nasty = [
    '"',
    '""',
    '"""',
    "'",
    "''; DROP TABLE chunks; --",
    'AND',
    'OR',
    'NOT',
    'NEAR(a b)',
    'a AND b',
    '*',
    'wild*',
    '^start',
    'col:value',
    '-minus',
    '+plus',
    '(',
    ')',
    '{',
    '}',
    '[',
    ']',
    '\\',
    '%',
    '_',
    'a%b_c',
    '\u0000',
    'nul\u0000inside',
    '🦊',
    '👩‍👩‍👧',
    'שלום עולם',
    '\u202Ertl',
    'e\u0301',
    '\uD800',
    'tab\tinside',
    'İstanbul',
    'ẞ',
    'x'.repeat(5000),
    '\u2028',
    '$1',
    '?1',
    ':name',
    '@x',
    '\uFFFD',
    '"unclosed phrase',
    'closed "phrase here" tail',
  ]

  test.each(nasty)('nasty text %# is stored, found by itself and breaks nothing', async (text) => {
    const [stored] = fixture.store.append([makeLine(`before ${text} after`), makeLine('another line')])
    const { logs } = await fixture.store.query({ resource: 'any', text: [text] })
    expect(logs.every((line) => line.message === stored?.message || line.message === 'another line')).toBe(true)
    if (!text.includes('"')) expect(logs).toContainEqual(stored)
    const quoted = await fixture.store.query({ resource: 'any', text: [`"${text}"`] })
    if (!text.includes('"') && text.trim() !== '') expect(quoted.logs).toContainEqual(stored)
  })

  test('all words must stand in the line, in any case and order; a phrase keeps its spaces', async () => {
    fixture.store.append([makeLine('Connection Timeout upstream'), makeLine('timeout of Connection'), makeLine('connection ok')])
    const found = async (...text: string[]) => (await fixture.store.query({ resource: 'any', text })).logs.map((line) => line.message)
    expect(await found('TIMEOUT connection')).toEqual(['timeout of Connection', 'Connection Timeout upstream'])
    expect(await found('"connection timeout"')).toEqual(['Connection Timeout upstream'])
    expect(await found('connection', 'ok')).toEqual(['connection ok'])
    expect(await found('  ')).toHaveLength(3)
  })

  test('a rare word is found among many lines through the filter of joined chunks', async () => {
    const random = randomFrom(1)
    const lines = Array.from({ length: 20_000 }, (_, i) => makeLine(`request ${random(1e9)} done in ${i} ms`))
    lines[12_345] = makeLine('the needle-7c1f is here')
    fixture.store.append(lines)
    expect((await fixture.store.query({ resource: 'any', text: ['NEEDLE-7C1F'] })).logs.map((line) => line.message)).toEqual([
      'the needle-7c1f is here',
    ])
    expect((await fixture.store.query({ resource: 'any', text: ['needle-7c1g'] })).logs).toEqual([])
  })
})

describe('values', () => {
  test('are those of the lines in the filter', () => {
    fixture.store.append([
      makeLine('a', { resource: 'srv-a', instance: 'srv-a-1', level: 'error' }),
      makeLine('b', { resource: 'srv-a', instance: '', type: 'build' }),
      makeLine('c', { resource: 'srv-b', instance: 'srv-b-1', type: 'request', labels: { path: '/x', statusCode: '200' } }),
    ])
    const { store } = fixture
    expect(store.values('resource', { resource: 'any' })).toEqual(['srv-a', 'srv-b'])
    expect(store.values('type', { resource: ['srv-a'] })).toEqual(['app', 'build'])
    expect(store.values('level', { resource: ['srv-a'] })).toEqual(['error', 'info'])
    expect(store.values('instance', { resource: 'any' })).toEqual(['srv-a-1', 'srv-b-1'])
    expect(store.values('path', { resource: 'any' })).toEqual(['/x'])
    expect(store.values('instance', { resource: 'any', endAt: BASE_MS * 1000 })).toEqual([])
  })
})

describe('reopening', () => {
  test('keeps lines, cursors and the sequence', async () => {
    const [first] = fixture.store.append([makeLine('one')], [{ key: 'srv-a/srv-a-1', cursor: '1:2:77' }])
    const second = openLogStore(fixture.path)
    expect(second.cursor('srv-a/srv-a-1')).toBe('1:2:77')
    expect(second.cursor('srv-a/srv-a-2')).toBeUndefined()
    expect(second.nextSeq()).toBe((first?.seq ?? 0) + 1)
    expect((await second.query({ resource: 'any' })).logs).toEqual([first])
    second.close()
  })

  test('goes on in outputs and files of the access log where a database of before has stopped', () => {
    const path = join(fixture.dir, 'before.db')
    const db = new Database(path, { create: true })
    db.run(readFileSync(join(import.meta.dirname, '../../../../server/telemetry/logs/migrations/0001_initial.sql'), 'utf8'))
    for (const known of [
      '/data/services/srv-a/output/srv-a-1.log',
      'data/services/crn-b/output/dep-c.build.log',
      '/data/run/access/1-2-3-4.log',
    ])
      db.run('INSERT INTO positions VALUES (?, ?, ?)', [known, '1:2:3', 77])
    db.run('PRAGMA user_version = 1')
    db.close()
    const store = openLogStore(path)
    for (const key of ['srv-a/srv-a-1', 'crn-b/dep-c.build', '/data/run/access/1-2-3-4.log']) expect(store.cursor(key)).toBe('1:2:3:77')
    store.close()
  })

  test('goes on where the furthest reader has stopped, of one output that was known by several paths to the data directory', () => {
    const path = join(fixture.dir, 'before.db')
    const db = new Database(path, { create: true })
    db.run(readFileSync(join(import.meta.dirname, '../../../../server/telemetry/logs/migrations/0001_initial.sql'), 'utf8'))
    const known: [string, number][] = [
      ['/srv/data/services/srv-a/output/srv-a-1.log', 1005],
      ['data/services/srv-a/output/srv-a-1.log', 99],
      ['./data/services/srv-b/output/srv-b-1.log', 20],
      ['/srv/data/services/srv-b/output/srv-b-1.log', 3],
    ]
    for (const [file, offset] of known) db.run('INSERT INTO positions VALUES (?, ?, ?)', [file, '1:2:3', offset])
    db.run('PRAGMA user_version = 1')
    db.close()
    const store = openLogStore(path)
    expect(store.cursor('srv-a/srv-a-1')).toBe('1:2:3:1005')
    expect(store.cursor('srv-b/srv-b-1')).toBe('1:2:3:20')
    store.close()
  })

  test('a database of a newer executable is refused', () => {
    const db = new Database(fixture.path)
    db.run('PRAGMA user_version = 99')
    db.close()
    expect(() => openLogStore(fixture.path)).toThrow(/newer executable/)
  })
})
