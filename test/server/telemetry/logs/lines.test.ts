import { describe, expect, test } from 'vitest'
import { nextTime } from '../../../../server/telemetry/logs/append.ts'
import { FULL_CHUNK_BYTES, JOIN_COUNT, noteChunk, type OpenChunks, planChunk } from '../../../../server/telemetry/logs/compact.ts'
import { searchTerms } from '../../../../server/telemetry/logs/filter.ts'
import { mayContain, mayHoldKey, packGrams, unpackGrams } from '../../../../server/telemetry/logs/grams.ts'
import { guessLevel } from '../../../../server/telemetry/logs/level.ts'
import { splitLines } from '../../../../server/telemetry/logs/split.ts'
import { formatLogTime, parseLogTime, toWire } from '../../../../server/telemetry/logs/wire.ts'
import { randomFrom } from './fixture.ts'

describe('the level of a line', () => {
  test.each([
    ['{"level":"error","msg":"x"}', 'error'],
    ['{"time":1,"severity":"WARNING"}', 'warning'],
    ['{"level":50,"msg":"pino"}', 'error'],
    ['{"level":30}', 'info'],
    ['{"message":"level is high"}', 'info'],
    ['ERROR: it broke', 'error'],
    ['error: it broke', 'error'],
    ['[warn] careful', 'warning'],
    ['2026-01-31 09:30:00,123 DEBUG sql', 'debug'],
    ['2026-01-31T09:30:00.123Z FATAL down', 'critical'],
    ['[2026-01-31 09:30:00 +0000] [17] [INFO] Booting worker', 'info'],
    ['[2026-01-31 09:30:00 +0000] [17] [ERROR] Worker failed', 'error'],
    ['time=2026 level=warn msg="x"', 'warning'],
    ['panic: runtime error', 'critical'],
    ['\u001b[31mERROR\u001b[0m it broke', 'error'],
    ['Error handling is on', 'info'],
    ['information about errors', 'info'],
    ['constructor: x', 'info'],
    ['', 'info'],
  ])('of %j is %s', (message, level) => {
    expect(guessLevel(message)).toBe(level)
  })
})

describe('splitting output', () => {
  test('gives the same lines however the bytes are cut into reads', () => {
    const random = randomFrom(8)
    const text = Array.from({ length: 400 }, () => ['a', 'é', '🦊', '\n', '\r\n', 'word ', '\r', 'x'.repeat(random(30))][random(8)]).join(
      '',
    )
    const bytes = Buffer.from(text)
    const whole = splitLines(bytes, { maxLineBytes: 16, isFinal: true }).messages
    for (let round = 0; round < 200; round++) {
      const found: string[] = []
      let start = 0
      for (let end = 0; end < bytes.length; ) {
        end = Math.min(bytes.length, end + 1 + random(60))
        const { messages, consumedBytes } = splitLines(bytes.subarray(start, end), { maxLineBytes: 16, isFinal: end === bytes.length })
        found.push(...messages)
        start += consumedBytes
      }
      expect(found).toEqual(whole)
    }
  })

  test('a line of exactly the bound stays whole, with either line end', () => {
    const split = (text: string) => splitLines(Buffer.from(text), { maxLineBytes: 4, isFinal: true }).messages
    expect(split('abcd\nabcd\r\nabcde\n')).toEqual(['abcd', 'abcd', 'abcd', 'e'])
  })
})

describe('the filter of character runs', () => {
  test('never denies a term that the text contains', () => {
    const random = randomFrom(21)
    for (let round = 0; round < 300; round++) {
      const text = Array.from({ length: random(2000) }, () => String.fromCharCode(random(4) === 0 ? random(65_536) : 97 + random(26))).join(
        '',
      )
      const grams = unpackGrams(packGrams(text, ['srv-1', 'srv-2']))
      const start = random(text.length + 1)
      expect(mayContain(grams, text.slice(start, start + random(40)))).toBe(true)
      expect(mayHoldKey(grams, 'srv-2')).toBe(true)
    }
  })

  test('denies nearly every term that the text does not contain', () => {
    const random = randomFrom(22)
    const text = Array.from({ length: 1000 }, (_, i) => `request ${random(2 ** 32).toString(16)} took ${i} ms`).join('\0')
    const grams = unpackGrams(packGrams(text, []))
    const denied = Array.from({ length: 1000 }, () =>
      random(2 ** 32)
        .toString(16)
        .padStart(8, '7'),
    ).filter((id) => !mayContain(grams, id))
    expect(denied.length).toBeGreaterThan(900)
  })
})

describe('planning chunks', () => {
  const small = { bytes: 10, mayJoin: true }

  test('joins 32 small chunks to a larger one, 32 of those to a final one, and makes full ones final at once', () => {
    expect(planChunk({ counts: [0, 0], bytes: 0 }, small)).toEqual({ rank: 0, absorbUpTo: undefined })
    expect(planChunk({ counts: [JOIN_COUNT - 1, 0], bytes: 0 }, small)).toEqual({ rank: 1, absorbUpTo: 0 })
    expect(planChunk({ counts: [JOIN_COUNT - 1, JOIN_COUNT - 1], bytes: 0 }, small)).toEqual({ rank: 2, absorbUpTo: 1 })
    expect(planChunk({ counts: [3, 2], bytes: FULL_CHUNK_BYTES - 5 }, small)).toEqual({ rank: 2, absorbUpTo: 1 })
    expect(planChunk({ counts: [0, 0], bytes: 0 }, { bytes: FULL_CHUNK_BYTES, mayJoin: false })).toEqual({ rank: 2, absorbUpTo: 1 })
  })

  test('puts joining off when enough has been joined', () => {
    expect(planChunk({ counts: [JOIN_COUNT + 9, 4], bytes: FULL_CHUNK_BYTES }, { bytes: 10, mayJoin: false })).toEqual({
      rank: 0,
      absorbUpTo: undefined,
    })
  })

  test('its account is the same as what was written', () => {
    const open: OpenChunks = { counts: [0, 0], bytes: 0 }
    let [appended, joined] = [0, 0]
    for (let i = 0; i < 5000; i++) {
      const plan = planChunk(open, small)
      noteChunk(open, plan, 10)
      if (plan.rank === 2) [appended, joined] = [0, 0]
      else if (plan.rank === 1) [appended, joined] = [0, joined + 1]
      else appended++
      expect(open.counts).toEqual([appended, joined])
      expect(appended + joined).toBeLessThan(2 * JOIN_COUNT)
    }
  })
})

describe('times', () => {
  test('of one millisecond are set a microsecond apart; a clock set far back is believed', () => {
    expect(nextTime(0, 5, 1)).toBe(5000)
    expect(nextTime(5000, 5, 2)).toBe(5001)
    expect(nextTime(5_000_000, 4990, 3)).toBe(5_000_001)
    expect(nextTime(5_000_000, 3000, 1234)).toBe(3_000_234)
  })

  test('are written with microseconds and read back exactly', () => {
    const at = Date.UTC(2026, 0, 31, 9, 30) * 1000 + 123_007
    expect(formatLogTime(at)).toBe('2026-01-31T09:30:00.123007Z')
    expect(parseLogTime('2026-01-31T09:30:00.123007Z')).toBe(at)
    expect(parseLogTime('2026-01-31T10:30:00.123007999+01:00')).toBe(at)
    expect(parseLogTime('2026-01-31T09:30:00Z')).toBe(at - 123_007)
    expect(parseLogTime('2026-13-31T09:30:00Z')).toBeUndefined()
  })
})

describe('on the wire', () => {
  test('a line has an id, its message, its time and the labels it has values for', () => {
    const line = { seq: 33, at: 1_000_001, resource: 'srv-a', instance: '', type: 'request', level: 'info', message: 'm' } as const
    expect(toWire({ ...line, labels: { host: 'h', method: 'GET', statusCode: '200', path: '/x' } })).toEqual({
      id: 'log-00000000011',
      message: 'm',
      timestamp: '1970-01-01T00:00:01.000001Z',
      labels: [
        { name: 'resource', value: 'srv-a' },
        { name: 'level', value: 'info' },
        { name: 'type', value: 'request' },
        { name: 'host', value: 'h' },
        { name: 'method', value: 'GET' },
        { name: 'statusCode', value: '200' },
        { name: 'path', value: '/x' },
      ],
    })
  })
})

test('search terms are words and quoted phrases without letter case', () => {
  expect(searchTerms('  Foo "Bar Baz"  "open qux" x" "" ')).toEqual(['foo', 'bar baz', 'open qux', 'x"', '""'])
})
