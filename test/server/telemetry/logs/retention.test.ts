import { statSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BASE_MS, type Fixture, makeLine, makeStore, randomFrom } from './fixture.ts'

let fixture: Fixture
beforeEach(() => {
  fixture = makeStore()
})
afterEach(() => fixture.remove())

const DAY_MS = 86_400_000
const NO_LIMIT = Number.MAX_SAFE_INTEGER

const append = (count: number, over = {}) => fixture.store.append(Array.from({ length: count }, (_, i) => makeLine(`line ${i}`, over)))
const newest = async (resource: string) => (await fixture.store.query({ resource: [resource], limit: 100 })).logs

describe('retention', () => {
  test('removes lines older than the age, keeps younger ones', async () => {
    append(3000, { resource: 'srv-old', timestampMs: BASE_MS })
    const kept = append(50, { resource: 'srv-new', timestampMs: BASE_MS + 6 * DAY_MS })
    await fixture.store.prune({ maxAgeDays: 7, maxBytesPerService: NO_LIMIT }, BASE_MS + 8 * DAY_MS)
    expect(await newest('srv-old')).toEqual([])
    expect(await newest('srv-new')).toEqual(kept.toReversed())
    expect(fixture.store.values('instance', { resource: ['srv-old'] })).toEqual([])
  })

  test('removes the oldest lines of a service that holds too much, and only of that one', async () => {
    const message = 'm'.repeat(1000)
    const noisy = append(5000, { resource: 'srv-noisy', message })
    const quiet = append(20, { resource: 'srv-quiet' })
    await fixture.store.prune({ maxAgeDays: 10_000, maxBytesPerService: 1_000_000 }, Date.now())
    const left = await fixture.store.query({ resource: ['srv-noisy'], direction: 'forward', limit: 1 })
    const index = noisy.findIndex((line) => line.seq === left.logs[0]?.seq)
    expect(index).toBeGreaterThan(3900)
    expect(index).toBeLessThan(4200)
    expect(await newest('srv-noisy')).toEqual(noisy.slice(-100).toReversed())
    expect(await newest('srv-quiet')).toEqual(quiet.toReversed())
  })

  test('gives the space back to the file system', async () => {
    const random = randomFrom(4)
    const noise = () => Array.from({ length: 100 }, () => random(2 ** 32).toString(36)).join('')
    fixture.store.append(Array.from({ length: 10_000 }, () => makeLine(noise())))
    fixture.store.sync()
    const before = statSync(fixture.path).size
    await fixture.store.prune({ maxAgeDays: 1, maxBytesPerService: NO_LIMIT }, BASE_MS + 9 * DAY_MS)
    fixture.store.sync()
    expect(before).toBeGreaterThan(3_000_000)
    expect(statSync(fixture.path).size).toBeLessThan(before / 10)
  })

  test('lets other work run between its steps', async () => {
    append(200_000, { message: 'n'.repeat(200) })
    let turns = 0
    let isDone = false
    const turn = () => {
      turns++
      if (!isDone) setImmediate(turn)
    }
    setImmediate(turn)
    await fixture.store.prune({ maxAgeDays: 1, maxBytesPerService: NO_LIMIT }, BASE_MS + 9 * DAY_MS)
    isDone = true
    expect(turns).toBeGreaterThan(5)
  })

  test('numbers of lines are not used again after everything was removed', async () => {
    const [, last] = append(2)
    await fixture.store.prune({ maxAgeDays: 1, maxBytesPerService: NO_LIMIT }, BASE_MS + 9 * DAY_MS)
    expect(append(1)[0]?.seq).toBe((last?.seq ?? 0) + 1)
  })
})

describe('removing a service', () => {
  test('removes all its lines and no other, also while lines keep arriving', async () => {
    for (const type of ['app', 'build', 'request'] as const) append(2000, { resource: 'srv-gone', type })
    const kept = append(30, { resource: 'srv-kept' })
    for (const key of ['srv-gone/srv-gone-1', 'srv-kept/srv-kept-1']) fixture.store.append([], [{ key, cursor: '1' }])
    const removal = fixture.store.removeService('srv-gone')
    append(10, { resource: 'srv-kept' })
    await removal
    expect(await newest('srv-gone')).toEqual([])
    expect(fixture.store.values('resource', { resource: 'any' })).toEqual(['srv-kept'])
    expect(await newest('srv-kept')).toHaveLength(40)
    expect(['srv-gone/srv-gone-1', 'srv-kept/srv-kept-1'].map(fixture.store.cursor)).toEqual([undefined, '1'])
    expect((await newest('srv-kept')).slice(10)).toEqual(kept.toReversed())
  })

  test('a late line of it is stored all the same and breaks nothing', async () => {
    append(10)
    await fixture.store.removeService('srv-a')
    const late = append(1)
    expect(await newest('srv-a')).toEqual(late)
  })
})
