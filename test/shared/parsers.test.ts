import { Type } from '@sinclair/typebox'
import { describe, expect, test } from 'vitest'
import { parseDuration } from '../../shared/duration.ts'
import { formatDotenv, parseDotenv } from '../../shared/env.ts'
import { StrictObject, Unsupported, unsupportedFields } from '../../shared/schema.ts'
import { ServiceCreate } from '../../shared/service.ts'
import { slugify } from '../../shared/slug.ts'

describe('a slug', () => {
  test.each([
    ['web', 'web'],
    ['My App', 'my-app'],
    ['Crème Brûlée', 'creme-brulee'],
    ['--a__b--', 'a-b'],
    ['日本', 'service'],
    ['', 'service'],
    ['-', 'service'],
    ['<script>alert(1)</script>', 'script-alert-1-script'],
    ['../../etc', 'etc'],
    [`${'a'.repeat(47)}-b`, 'a'.repeat(47)],
  ])('of %j is %j', (name, slug) => {
    expect(slugify(name)).toBe(slug)
  })
  test('is a DNS label whatever the name', () => {
    for (let code = 0; code < 0x3000; code += 7) {
      expect(slugify(String.fromCodePoint(code, code + 1, 45, code + 2).repeat(20))).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?$/)
    }
  })
})

describe('a duration', () => {
  test.each([
    ['90s', 90_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['7d', 604_800_000],
    ['1w', 604_800_000],
    ['1h30m', 5_400_000],
    ['0s', 0],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })
  test.each(['', '5', 'm', '-5m', '1.5h', '5 m', '5M', '5ms', '1234567s'])('%j is none', (text) => {
    expect(parseDuration(text)).toBeUndefined()
  })
})

const pairs = (text: string) => parseDotenv(text).map(({ key, value }) => [key, value])

describe('a .env file', () => {
  test('is read with comments, exports, quotes and spaces', () => {
    const text = '# comment\nA=1\n\nexport B = two words # why\nC="x\\n\\"y\\"" # z\nD=\'$raw\\n\'\n  E=\r\nF=a#b\n'
    expect(pairs(text)).toEqual([
      ['A', '1'],
      ['B', 'two words'],
      ['C', 'x\n"y"'],
      ['D', '$raw\\n'],
      ['E', ''],
      ['F', 'a#b'],
    ])
  })
  test('may hold quoted values over several lines', () => {
    expect(pairs('KEY="-----BEGIN\nabc\n-----END"\nB=1')).toEqual([
      ['KEY', '-----BEGIN\nabc\n-----END'],
      ['B', '1'],
    ])
  })
  test('takes the last value of a name that stands there twice', () => {
    expect(pairs('A=1\nA=2')).toEqual([['A', '2']])
  })
  test.each([
    ['A=1\nnonsense\n', 'Line 2'],
    ['1A=1', 'Line 1'],
    ['=1', 'Line 1'],
  ])('%j is refused naming the line', (text, line) => {
    expect(() => parseDotenv(text)).toThrow(line)
  })
  test('is read as it was written, whatever the values', () => {
    const letters = ['a', 'Z', '0', ' ', '\t', '\n', '\r', '"', "'", '\\', '#', '=', '$', '`', 'é', '🦊', 'n', '\u0001', ';', '&']
    for (let seed = 1; seed < 3000; seed++) {
      const value = Array.from({ length: seed % 9 }, (_, i) => letters[(seed * (i + 7) * 2654435761) % letters.length]).join('')
      const vars = [
        { key: 'FIRST', value },
        { key: 'SECOND_2.x-y', value: `${value}${value}` },
      ]
      expect(parseDotenv(formatDotenv(vars)), JSON.stringify(value)).toEqual(vars)
    }
  })
})

describe('fields that are known and not supported', () => {
  const schema = StrictObject({
    repo: Unsupported(),
    branch: Unsupported('main'),
    filter: Unsupported({ paths: [] }),
    details: Type.Optional(StrictObject({ disk: Unsupported(), plan: Type.String() })),
  })
  test.each([
    [{}],
    [{ repo: '', branch: 'main', filter: {} }],
    [{ repo: null, filter: { paths: [] } }],
    [{ repo: false, details: { disk: null, plan: 'pro' } }],
    [{ repo: [] }],
  ])('pass with their neutral value: %j', (value) => {
    expect(unsupportedFields(schema, value)).toEqual([])
  })
  test.each([
    [{ repo: 'https://example.com' }, ['/repo']],
    [{ branch: 'dev', filter: { paths: ['a'] } }, ['/branch', '/filter']],
    [{ details: { disk: { sizeGB: 1 }, plan: 'pro' } }, ['/details/disk']],
    [{ repo: true }, ['/repo']],
    [{ repo: 0 }, ['/repo']],
  ])('are named with any other: %j', (value, fields) => {
    expect(unsupportedFields(schema, value)).toEqual(fields)
  })
  test('are found in items of a list', () => {
    expect(unsupportedFields(Type.Object({ list: Type.Array(schema) }), { list: [{}, { repo: 'x' }] })).toEqual(['/list/1/repo'])
  })
  test('are found in the body of a new service', () => {
    const body = {
      type: 'web_service',
      name: 'web',
      image: { imagePath: 'nginx' },
      serviceDetails: { region: 'oregon', autoscaling: { enabled: true } },
    }
    expect(unsupportedFields(ServiceCreate, body)).toEqual(['/image', '/serviceDetails/autoscaling'])
  })
})
