import { describe, expect, test } from 'vitest'
import { coresToShare, parseCores, planConfinement } from '../../../../server/engines/process/cgroups/cores.ts'

const coresOf = (count: number) => Array.from({ length: count }, (_, index) => index)
const app = (parent: string, limit: number) => ({ parent, limit })

test('the kernel lists cores one by one and in ranges', () => {
  expect(parseCores('0-3,7\n')).toEqual([0, 1, 2, 3, 7])
  expect(parseCores('2')).toEqual([2])
  expect(parseCores('\n')).toEqual([])
})

test('a quarter of the cores is spared, at least one, and none of a single one', () => {
  expect(coresToShare(coresOf(1))).toEqual([0])
  expect(coresToShare([0, 5])).toEqual([5])
  expect(coresToShare(coresOf(4))).toEqual([1, 2, 3])
  expect(coresToShare(coresOf(8))).toHaveLength(6)
  expect(coresToShare([])).toEqual([])
})

describe('who is confined', () => {
  test('is who has room for what the plan allows', () => {
    expect(planConfinement(coresOf(2), [app('srv-a', 1)])).toEqual(new Set(['srv-a']))
    expect(planConfinement(coresOf(2), [app('srv-a', 1.5)])).toEqual(new Set())
    expect(planConfinement(coresOf(4), [app('srv-a', 2), app('srv-b', 2), app('srv-c', 1)])).toEqual(new Set(['srv-a', 'srv-c']))
  })

  test('is nobody on a single core, or where groups have no cores of their own', () => {
    expect(planConfinement([0], [app('srv-a', 0.5)])).toEqual(new Set())
    expect(planConfinement([], [app('srv-a', 0.5)])).toEqual(new Set())
  })
})
