import { describe, expect, test } from 'vitest'
import { afterFailure, type Failure, pausesMs, retryAfterMsOf } from '../../../../server/apps/webhooks/retry-plan.ts'

const HOUR_MS = 60 * 60 * 1000
const failure = (changes: Partial<Failure> = {}): Failure => ({
  attempt: 1,
  at: 0,
  statusCode: 500,
  retryAfterMs: undefined,
  random: 0,
  ...changes,
})

/** When each of eight attempts is made, in milliseconds after the first. */
function schedule(random: number): number[] {
  const times = [0]
  for (let attempt = 1; ; attempt++) {
    const next = afterFailure(failure({ attempt, at: times.at(-1) ?? 0, random }))
    if (next.next === 'disable') return times
    times.push(next.at)
  }
}

describe('eight attempts', () => {
  test('stand at the times that Standard Webhooks gives, where chance adds nothing', () => {
    const inSeconds = schedule(0).map((at) => at / 1000)
    expect(inSeconds).toEqual([0, 5, 305, 2105, 9305, 27_305, 63_305, 113_705])
  })

  test('are spread over about 33 hours', () => {
    expect(schedule(0.5)).toHaveLength(8)
    expect((schedule(0.5).at(-1) ?? 0) / HOUR_MS).toBeCloseTo(33.16, 1)
    expect((schedule(1).at(-1) ?? 0) / HOUR_MS).toBeLessThan(35)
  })

  test('do not come back together where they failed together', () => {
    const [first = 0] = pausesMs
    const times = [0, 0.25, 0.5, 0.75, 1].map((random) => afterFailure(failure({ random })))
    expect(times).toEqual([1, 1.025, 1.05, 1.075, 1.1].map((factor) => ({ next: 'retry', at: Math.round(first * factor) })))
  })
})

test('the eighth failure disables, and says why', () => {
  expect(afterFailure(failure({ attempt: 7 })).next).toBe('retry')
  expect(afterFailure(failure({ attempt: 8 }))).toEqual({ next: 'disable', reason: 'An event could not be delivered in 8 attempts.' })
})

test('a receiver that is gone is not asked again', () => {
  expect(afterFailure(failure({ statusCode: 410 })).next).toBe('disable')
  expect(afterFailure(failure({ statusCode: 404 })).next).toBe('retry')
})

test('a receiver may ask for more time, up to an hour, and not for less', () => {
  expect(afterFailure(failure({ retryAfterMs: 60_000 }))).toEqual({ next: 'retry', at: 60_000 })
  expect(afterFailure(failure({ retryAfterMs: 1e12 }))).toEqual({ next: 'retry', at: HOUR_MS })
  expect(afterFailure(failure({ retryAfterMs: 0 }))).toEqual({ next: 'retry', at: 5000 })
})

test('Retry-After is read as seconds and as a date', () => {
  expect(retryAfterMsOf('120', 0)).toBe(120_000)
  expect(retryAfterMsOf('Thu, 01 Jan 1970 00:01:00 GMT', 0)).toBe(60_000)
  expect(retryAfterMsOf('Thu, 01 Jan 1970 00:00:00 GMT', 60_000)).toBe(0)
  for (const text of [null, '', 'soon', '-1', '1.5.2', '9'.repeat(30)]) expect(retryAfterMsOf(text, 0)).toBeUndefined()
})
