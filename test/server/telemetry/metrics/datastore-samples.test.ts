import { expect, test } from 'vitest'
import { type DatastoreFigures, joinDatastores, sampleOf } from '../../../../server/telemetry/metrics/datastore-samples.ts'
import { datastoreSeries } from '../../../../server/telemetry/metrics/values.ts'

const figures = (given: Partial<DatastoreFigures>): DatastoreFigures => ({
  ...{ connections: 2, memory: 1000, keys: 10, hits: 0, misses: 0, evictions: 0, operations: 0 },
  ...given,
})
const read = (workloadId: string, atMs: number, given: Partial<DatastoreFigures> = {}) => ({ workloadId, atMs, figures: figures(given) })

test('a sample has what was counted since the reading before, of the same server', () => {
  const first = read('one', 1000, { hits: 5, operations: 100 })
  expect(sampleOf(0, first, undefined)).toMatchObject({ samples: 1, connections: 2, spanMs: 0, hits: 0, operations: 0 })
  const second = read('one', 31_000, { hits: 9, misses: 1, evictions: 2, operations: 700 })
  expect(sampleOf(30, second, first)).toMatchObject({ at: 30, spanMs: 30_000, hits: 4, misses: 1, evictions: 2, operations: 600 })
  expect(sampleOf(30, read('two', 31_000, { hits: 3 }), first)).toMatchObject({ spanMs: 0, hits: 0 })
  expect(sampleOf(30, read('one', 31_000, { hits: 1 }), first)).toMatchObject({ hits: 0 })
  expect(sampleOf(30, read('one', 3_600_000, { hits: 9 }), first)).toMatchObject({ spanMs: 0, hits: 0 })
})

test('samples are joined to averages and sums, and told in units that fit', () => {
  const before = read('one', 0)
  const parts = [
    sampleOf(0, read('one', 30_000, { connections: 1, keys: 0, operations: 300, hits: 3 }), before),
    sampleOf(
      30,
      read('one', 60_000, { connections: 4, keys: 20, operations: 900, hits: 5, misses: 1 }),
      read('one', 30_000, { operations: 300, hits: 3 }),
    ),
  ]
  const joined = joinDatastores(0, parts)
  expect(joined).toMatchObject({
    samples: 2,
    connections: 2.5,
    memory: 1000,
    keys: 10,
    spanMs: 60_000,
    hits: 5,
    misses: 1,
    operations: 900,
  })
  const told = (name: keyof typeof datastoreSeries) =>
    datastoreSeries[name]?.({ resource: 'red-1' }, [joined]).map(({ unit, values }) => [unit, values[0]?.value])
  expect(told('operations')).toEqual([['per_second', 15]])
  expect(told('cache-hits')).toEqual([
    ['lookups', 5],
    ['lookups', 1],
  ])
  expect(told('keys')).toEqual([['keys', 10]])
})

test('a database has no keys, and nothing is told of counts that were not made', () => {
  const sample = sampleOf(0, read('one', 0, { memory: 0 }), undefined)
  const told = Object.entries(datastoreSeries).filter(([, present]) => present?.({}, [sample]).length)
  expect(told.map(([name]) => name)).toEqual(['active-connections'])
})
