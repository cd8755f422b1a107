import { describe, expect, test } from 'vitest'
import { allowedOn, heaviestUser as heaviestUserOf, SMALL_GROWTH, type SpaceUser } from '../../../../server/runtime/space/heaviest-user.ts'
import { nextCheckMs, reserveBytes, reserveFiles, shortageIn } from '../../../../server/runtime/space/reserve.ts'

const MIB = 1024 * 1024
const GIB = 1024 * MIB

describe('the reserve', () => {
  test('is 1 GiB or 2 % of a large disk, and at most a tenth of a small one', () => {
    expect(reserveBytes(20 * GIB, undefined)).toBe(GIB)
    expect(reserveBytes(1000 * GIB, undefined)).toBe(20 * GIB)
    expect(reserveBytes(512 * MIB, undefined)).toBeCloseTo(51.2 * MIB)
  })

  test('is what the operator says, but never more than half of the disk', () => {
    expect(reserveBytes(20 * GIB, 3000)).toBe(3000 * MIB)
    expect(reserveBytes(GIB, 3000)).toBe(0.5 * GIB)
  })

  test('of files is 20,000 or 2 %, at most a tenth, and none where nothing is to be kept free or the file system counts none', () => {
    expect(reserveFiles(10_000_000, undefined)).toBe(200_000)
    expect(reserveFiles(500_000, 3000)).toBe(20_000)
    expect(reserveFiles(50_000, undefined)).toBe(5000)
    expect(reserveFiles(10_000_000, 0)).toBe(0)
    const bytes = { total: 20 * GIB, free: 10 * GIB }
    expect(shortageIn({ bytes, files: { total: 0, free: 0 } }, undefined)).toBeUndefined()
    expect(shortageIn({ bytes, files: { total: 50_000, free: 5000 } }, undefined)).toBeUndefined()
    const files = { total: 50_000, free: 4999 }
    expect(shortageIn({ bytes, files }, undefined)).toEqual({ ...files, unit: 'files', reserve: 5000 })
    expect(shortageIn({ bytes: { ...bytes, free: 0 }, files }, undefined)).toMatchObject({ unit: 'bytes', reserve: GIB })
  })

  test('is looked at every second, and sooner the faster the disk fills', () => {
    const files = { total: 0, free: 0 }
    const at = (free: number, ms: number) => ({ bytes: { total: 20 * GIB, free }, files, at: ms })
    expect(nextCheckMs(at(10 * GIB, 0), at(10 * GIB, 1000), 1024)).toBe(1000)
    expect(nextCheckMs(at(10 * GIB, 0), at(11 * GIB, 1000), 1024)).toBe(1000)
    expect(nextCheckMs(at(3 * GIB, 0), at(2 * GIB, 1000), 1024)).toBe(500)
    expect(nextCheckMs(at(3 * GIB, 0), at(1.01 * GIB, 1000), 1024)).toBe(50)
    expect(nextCheckMs(at(10 * GIB, 0), at(9.999 * GIB, 1000), 1024)).toBe(1000)
    const filesLeft = (free: number, ms: number) => ({ ...at(10 * GIB, ms), files: { total: 300_000, free } })
    expect(nextCheckMs(filesLeft(220_000, 0), filesLeft(120_000, 1000), 1024)).toBe(500)
    expect(nextCheckMs(filesLeft(120_000, 0), filesLeft(20_100, 1000), 1024)).toBe(50)
  })
})

test('a plan gives what it says, or a quarter of a disk on which that is less', () => {
  expect(allowedOn({ unit: 'bytes', total: 1000 * GIB }, 5120)).toBe(5120 * MIB)
  expect(allowedOn({ unit: 'bytes', total: GIB }, 5120)).toBe(256 * MIB)
  expect(allowedOn({ unit: 'files', total: 10_000_000 }, 5120)).toBe(5120 * 128)
  expect(allowedOn({ unit: 'files', total: 40_000 }, 5120)).toBe(10_000)
})

const heaviestUser = (users: readonly SpaceUser[]) => heaviestUserOf(users, SMALL_GROWTH.bytes)

const user = (id: string, changes: Partial<SpaceUser> = {}): SpaceUser => ({
  id,
  kind: 'service',
  held: 0,
  heldBefore: undefined,
  allowed: 100 * MIB,
  ...changes,
})

describe('who is stopped', () => {
  test('is who is furthest beyond their plan, not who holds most', () => {
    const large = user('large', { held: 900 * MIB, allowed: 1000 * MIB })
    expect(heaviestUser([large, user('a', { held: 200 * MIB }), user('b', { held: 300 * MIB })])?.id).toBe('b')
  })

  test('is who grew most where nobody is beyond their plan', () => {
    const still = user('still', { held: 90 * MIB, heldBefore: 90 * MIB })
    const grows = user('grows', { held: 60 * MIB, heldBefore: 10 * MIB })
    expect(heaviestUser([still, grows])?.id).toBe('grows')
  })

  test('is who cannot be measured before who only grows, and after who is beyond their plan', () => {
    const hides = user('hides', { isUnmeasured: true })
    const grows = user('grows', { held: 60 * MIB, heldBefore: 10 * MIB })
    expect(heaviestUser([grows, hides])?.id).toBe('hides')
    expect(heaviestUser([grows, hides, user('beyond', { held: 101 * MIB })])?.id).toBe('beyond')
  })

  test('is nobody where nobody is beyond their plan and nobody grows: somebody else filled the disk', () => {
    expect(heaviestUser([user('a', { held: 90 * MIB }), user('b', { held: 5 * MIB, heldBefore: 5 * MIB })])).toBeUndefined()
    expect(heaviestUser([])).toBeUndefined()
  })
})

/** A generator of numbers that can be begun again (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

test('for any users: who is stopped did wrong, nobody did worse, and the order does not matter', () => {
  for (let seed = 0; seed < 2000; seed++) {
    const random = randomFrom(seed)
    const users = Array.from({ length: Math.floor(random() * 8) }, (_, index) =>
      user(`s${index}`, {
        held: Math.floor(random() * 20) * 10 * MIB,
        heldBefore: random() < 0.3 ? undefined : Math.floor(random() * 20) * 10 * MIB,
        allowed: (random() < 0.5 ? 1000 : Math.floor(random() * 20) * 10) * MIB,
      }),
    )
    const excess = (one: SpaceUser) => one.held - one.allowed
    const growth = (one: SpaceUser) => one.held - (one.heldBefore ?? one.held)
    const heaviest = heaviestUser(users)
    expect(heaviestUser(users.toReversed())).toEqual(heaviest)
    const isAnyBeyond = users.some((one) => excess(one) > 0)
    const isAnyGrowing = users.some((one) => growth(one) >= SMALL_GROWTH.bytes)
    expect(heaviest === undefined).toBe(!isAnyBeyond && !isAnyGrowing)
    if (heaviest === undefined) continue
    const measure = isAnyBeyond ? excess : growth
    expect(measure(heaviest)).toBeGreaterThan(0)
    expect(Math.max(...users.map(measure))).toBe(measure(heaviest))
  }
})
