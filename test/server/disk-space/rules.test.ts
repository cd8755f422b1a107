import { describe, expect, test } from 'vitest'
import { allowedOn, chooseHog, type Holder, SMALL_GROWTH_BYTES } from '../../../server/disk-space/hog.ts'
import { nextLookMs, reserveBytes } from '../../../server/disk-space/reserve.ts'

const MIB = 1024 * 1024
const GIB = 1024 * MIB

describe('the reserve', () => {
  test('is 1 GiB or 2 % of a large disk, and at most a tenth of a small one', () => {
    expect(reserveBytes({ totalBytes: 20 * GIB }, undefined)).toBe(GIB)
    expect(reserveBytes({ totalBytes: 1000 * GIB }, undefined)).toBe(20 * GIB)
    expect(reserveBytes({ totalBytes: 512 * MIB }, undefined)).toBeCloseTo(51.2 * MIB)
  })

  test('is what the operator says, but never more than half of the disk', () => {
    expect(reserveBytes({ totalBytes: 20 * GIB }, 3000)).toBe(3000 * MIB)
    expect(reserveBytes({ totalBytes: GIB }, 3000)).toBe(0.5 * GIB)
  })

  test('is looked at every second, and sooner the faster the disk fills', () => {
    const at = (freeBytes: number, ms: number) => ({ totalBytes: 20 * GIB, freeBytes, at: ms })
    expect(nextLookMs(at(10 * GIB, 0), at(10 * GIB, 1000), GIB)).toBe(1000)
    expect(nextLookMs(at(10 * GIB, 0), at(11 * GIB, 1000), GIB)).toBe(1000)
    expect(nextLookMs(at(3 * GIB, 0), at(2 * GIB, 1000), GIB)).toBe(500)
    expect(nextLookMs(at(3 * GIB, 0), at(1.01 * GIB, 1000), GIB)).toBe(50)
    expect(nextLookMs(at(10 * GIB, 0), at(9.999 * GIB, 1000), GIB)).toBe(1000)
  })
})

test('a plan gives what it says, or a quarter of a disk on which that is less', () => {
  expect(allowedOn(1000 * GIB, 5120)).toBe(5120 * MIB)
  expect(allowedOn(GIB, 5120)).toBe(256 * MIB)
})

const holder = (id: string, changes: Partial<Holder> = {}): Holder => ({
  id,
  kind: 'service',
  heldBytes: 0,
  heldBeforeBytes: undefined,
  allowedBytes: 100 * MIB,
  ...changes,
})

describe('who is stopped', () => {
  test('is who is furthest beyond their plan, not who holds most', () => {
    const large = holder('large', { heldBytes: 900 * MIB, allowedBytes: 1000 * MIB })
    expect(chooseHog([large, holder('a', { heldBytes: 200 * MIB }), holder('b', { heldBytes: 300 * MIB })])?.id).toBe('b')
  })

  test('is who grew most where nobody is beyond their plan', () => {
    const still = holder('still', { heldBytes: 90 * MIB, heldBeforeBytes: 90 * MIB })
    const grows = holder('grows', { heldBytes: 60 * MIB, heldBeforeBytes: 10 * MIB })
    expect(chooseHog([still, grows])?.id).toBe('grows')
  })

  test('is who cannot be measured before who only grows, and after who is beyond their plan', () => {
    const hides = holder('hides', { isUnmeasured: true })
    const grows = holder('grows', { heldBytes: 60 * MIB, heldBeforeBytes: 10 * MIB })
    expect(chooseHog([grows, hides])?.id).toBe('hides')
    expect(chooseHog([grows, hides, holder('beyond', { heldBytes: 101 * MIB })])?.id).toBe('beyond')
  })

  test('is nobody where nobody is beyond their plan and nobody grows: somebody else filled the disk', () => {
    expect(chooseHog([holder('a', { heldBytes: 90 * MIB }), holder('b', { heldBytes: 5 * MIB, heldBeforeBytes: 5 * MIB })])).toBeUndefined()
    expect(chooseHog([])).toBeUndefined()
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

test('for any holders: who is stopped did wrong, nobody did worse, and the order does not matter', () => {
  for (let seed = 0; seed < 2000; seed++) {
    const random = randomFrom(seed)
    const holders = Array.from({ length: Math.floor(random() * 8) }, (_, index) =>
      holder(`s${index}`, {
        heldBytes: Math.floor(random() * 20) * 10 * MIB,
        heldBeforeBytes: random() < 0.3 ? undefined : Math.floor(random() * 20) * 10 * MIB,
        allowedBytes: (random() < 0.5 ? 1000 : Math.floor(random() * 20) * 10) * MIB,
      }),
    )
    const excess = (one: Holder) => one.heldBytes - one.allowedBytes
    const growth = (one: Holder) => one.heldBytes - (one.heldBeforeBytes ?? one.heldBytes)
    const hog = chooseHog(holders)
    expect(chooseHog(holders.toReversed())).toEqual(hog)
    const isAnyBeyond = holders.some((one) => excess(one) > 0)
    const isAnyGrowing = holders.some((one) => growth(one) >= SMALL_GROWTH_BYTES)
    expect(hog === undefined).toBe(!isAnyBeyond && !isAnyGrowing)
    if (hog === undefined) continue
    const measure = isAnyBeyond ? excess : growth
    expect(measure(hog)).toBeGreaterThan(0)
    expect(Math.max(...holders.map(measure))).toBe(measure(hog))
  }
})
