import { expect, test } from 'vitest'
import { isRetryDue } from '../../../../server/apps/datastores/disk-growth.ts'
import { grownSize, hasToGrow, isShort, nextDiskState } from '../../../../server/apps/datastores/disk-rules.ts'
import type { DiskState } from '../../../../shared/datastore.ts'

const full = { from: 0.95, under: 0.93 }
const taken = (percent: number) => ({ usedBytes: percent * 10, sizeBytes: 1000 })

test('a disk is nearly full at 80 % and full at 95 %, and each only some percent further down no more', () => {
  const states = [10, 79, 80, 94, 95, 94, 93, 92, 80, 79, 75, 74, 80, 99, 20]
  let state: DiskState = 'ok'
  const told = states.map((percent) => {
    state = nextDiskState(state, taken(percent), full)
    return state
  })
  expect(told).toEqual([
    ...['ok', 'ok', 'nearly_full', 'nearly_full', 'full', 'full', 'full', 'nearly_full', 'nearly_full', 'nearly_full'],
    ...['nearly_full', 'ok', 'nearly_full', 'full', 'ok'],
  ])
})

test('a disk of which nothing is known is not full', () => {
  expect(nextDiskState('ok', { usedBytes: 0, sizeBytes: 0 }, full)).toBe('ok')
})

test('little is left of a small disk at 32 MiB, of a large one at 2 %', () => {
  const MIB = 1024 * 1024
  const left = (sizeMb: number, leftMb: number) => isShort({ usedBytes: (sizeMb - leftMb) * MIB, sizeBytes: sizeMb * MIB })
  expect([left(974, 33), left(974, 31), left(100_000, 2001), left(100_000, 1999)]).toEqual([false, true, false, true])
})

test('it grows from 90 % on, by half, in steps, by as much as there is room for', () => {
  expect([hasToGrow(taken(89)), hasToGrow(taken(90))]).toEqual([false, true])
  const grown = (sizeGb: number, roomGb: number, stepGb = 5) => grownSize({ sizeGb, roomGb, stepGb })
  expect([grown(1, 100), grown(5, 100), grown(20, 100), grown(100, 1000), grown(1, 100, 1)]).toEqual([5, 10, 30, 150, 2])
  expect([grown(20, 3.9), grown(20, 0.5), grown(65_536, 1000)]).toEqual([23, undefined, undefined])
})

test('what could not grow is tried again after ten minutes, and at once where the clock was ahead then', () => {
  const MINUTE = 60_000
  expect(isRetryDue(null, 0)).toBe(true)
  expect(isRetryDue(0, 9 * MINUTE)).toBe(false)
  expect(isRetryDue(0, 10 * MINUTE)).toBe(true)
  expect(isRetryDue(400 * MINUTE, 10 * MINUTE)).toBe(true)
})
