import { describe, expect, test } from 'vitest'
import { type Comparison, type Figures, judgeRelease } from '../../../../server/apps/cutover-guard/verdict.ts'

const figures = (requests: number, errors: number, crashes = 0): Figures => ({ requests, errors, crashes })
const judge = (before: Figures, after: Figures, changes: Partial<Comparison> = {}) =>
  judgeRelease({ before, after, errorRateThreshold: 20, elapsedMs: 12_000, ...changes })

describe('a new release is far worse', () => {
  test.each<[string, Figures, Figures, Partial<Comparison>?]>([
    ['when a fifth of its first 20 requests fails and none did before', figures(500, 0), figures(20, 4)],
    ['when half of its requests fail and a tenth did before', figures(100, 10), figures(100, 50)],
    ['when requests fail of a service that nobody had asked for anything', figures(0, 0), figures(40, 20)],
    ['by a threshold of its own', figures(1000, 10), figures(100, 6), { errorRateThreshold: 5 }],
    ['when its instances die twice, however few requests there are', figures(0, 0), figures(0, 0, 2)],
  ])('%s', (_, before, after, changes) => {
    expect(judge(before, after, changes)).toBeDefined()
  })
})

describe('a new release is not far worse', () => {
  test.each<[string, Figures, Figures]>([
    ['when nobody asks it for anything', figures(500, 0), figures(0, 0)],
    ['when all of 19 requests fail: they are too few', figures(500, 0), figures(19, 19)],
    ['when a little less than the threshold fails', figures(1000, 0), figures(100, 19)],
    ['when far more fails, but not three times what failed before', figures(100, 30), figures(100, 80)],
    ['when it fails as the old one did', figures(100, 60), figures(100, 60)],
    ['when it fails less than the old one', figures(100, 60), figures(100, 10)],
    ['when one of its instances dies once', figures(500, 0), figures(500, 0, 1)],
    ['when instances die as those of the old one did', figures(500, 0, 1), figures(500, 0, 5)],
  ])('%s', (_, before, after) => {
    expect(judge(before, after)).toBeUndefined()
  })
})

test('the figures stand in the reason', () => {
  expect(judge(figures(1, 0), figures(104, 53))).toBe(
    '53 of 104 requests (51.0 %) of the new release failed in the 12 s since the switch, 0 of 1 request (0.0 %) of the old one in the minutes before.',
  )
  expect(judge(figures(9, 0), figures(104, 53, 3))).toBe(
    'Instances of the new release died 3 times within 12 s of the switch, those of the old one not once.',
  )
})
