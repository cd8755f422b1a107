import { describe, expect, test } from 'vitest'
import { referenceOf, wordsOfReference } from '../../cli/commands/env-references.ts'

describe('cpctl env set --from-postgres', () => {
  test.each([
    [[], { fromPostgres: 'db' }, { service: undefined, key: 'DATABASE_URL' }],
    [[], { fromKv: 'cache' }, { service: undefined, key: 'REDIS_URL' }],
    [['web'], { fromPostgres: 'db' }, { service: 'web', key: 'DATABASE_URL' }],
    [['web', 'PGHOST'], { fromPostgres: 'db', property: 'host' }, { service: 'web', key: 'PGHOST' }],
    [['PGHOST'], { fromPostgres: 'db' }, { service: undefined, key: 'PGHOST' }],
  ])('%j with %j sets %j', (words, options, expected) => {
    expect(wordsOfReference(words, options)).toEqual(expected)
  })

  test('says by name or id what is meant, and asks for its connection string unless told', () => {
    expect(referenceOf({ fromPostgres: 'db' })).toEqual({ fromDatabase: { name: 'db', property: 'connectionString' } })
    const id = 'dpg-0b1c2d3e4f5g6h7i8j9k-a'
    expect(referenceOf({ fromPostgres: id, property: 'port' })).toEqual({ fromDatabase: { id, property: 'port' } })
    expect(referenceOf({ fromKv: 'cache', property: 'host' })).toEqual({ fromKeyValue: { name: 'cache', property: 'host' } })
  })

  test.each([
    [{ fromPostgres: 'db', fromKv: 'cache' }, 'not both'],
    [{ property: 'host' }, '--from-postgres'],
    [{ fromKv: 'cache', property: 'database' }, 'connectionString, host, port'],
  ])('%j is refused in words', (options, message) => {
    expect(() => referenceOf(options)).toThrow(message)
  })

  test.each([[['web', 'other']], [['A=1']]])('%j names too much', (words) => {
    expect(() => wordsOfReference(words, { fromPostgres: 'db' })).toThrow('without a value')
  })
})
