import { describe, expect, test } from 'vitest'
import { joinSteps, planQuery } from '../../../../server/insight/metrics/rules.ts'

const nowMs = Date.parse('2026-06-15T12:00:03.000Z')
const ago = (seconds: number): string => new Date(nowMs - seconds * 1000).toISOString()
const HOUR = 3600
const DAY = 24 * HOUR
const plan = (query: Parameters<typeof planQuery>[0], services = 1, isByInstance = false) => {
  const { level, step, start, end } = planQuery(query, { nowMs, services, isByInstance })
  return { level: level.stepSeconds, step, points: (end - start) / step, isAligned: start % step === 0 && end % step === 0 }
}

describe('a query', () => {
  test('without anything is of the last hour, at ten seconds', () => {
    expect(plan({})).toEqual({ level: 10, step: 10, points: 361, isAligned: true })
  })

  test.each([
    [2 * HOUR, 60],
    [47 * HOUR, 120],
    [3 * DAY, HOUR],
    [29 * DAY, HOUR],
    [31 * DAY, DAY],
    [394 * DAY, DAY],
  ])('of %i seconds ago is answered as finely as is kept and bounded', (age, step) => {
    const answer = plan({ startTime: ago(age), resolutionSeconds: 1 })
    expect(answer).toMatchObject({ step, isAligned: true })
    expect(answer.points).toBeLessThanOrEqual(2000)
  })

  test('has its resolution rounded up to whole windows of what is kept', () => {
    expect(plan({ resolutionSeconds: 25 }).step).toBe(30)
    expect(plan({ startTime: ago(2 * HOUR), resolutionSeconds: 90 }).step).toBe(120)
    expect(plan({ startTime: ago(3 * DAY), resolutionSeconds: 60 }).step).toBe(HOUR)
  })

  test('is read from the coarsest level that its steps can be made of', () => {
    expect(plan({ resolutionSeconds: 60 }).level).toBe(60)
    expect(plan({ resolutionSeconds: 70 }).level).toBe(10)
    expect(plan({ startTime: ago(20 * DAY), resolutionSeconds: DAY }).level).toBe(DAY)
    expect(plan({ startTime: ago(20 * DAY), resolutionSeconds: DAY }, 1, true).level).toBe(HOUR)
  })

  test('of instances that are no longer told apart is answered of the service', () => {
    expect(plan({ startTime: ago(60 * DAY) }, 1, true).level).toBe(DAY)
  })

  test('of many services has fewer points for each', () => {
    expect(plan({}, 100).points).toBeLessThanOrEqual(200)
  })

  test('before all that is kept begins where it is kept, and one of the future is empty', () => {
    expect(plan({ startTime: '1990-01-01T00:00:00Z' }).points).toBeLessThanOrEqual(397)
    const future = planQuery({ startTime: ago(-HOUR), endTime: ago(-2 * HOUR) }, { nowMs, services: 1, isByInstance: false })
    expect(future.start).toBeGreaterThanOrEqual(future.end)
  })

  test('takes times as seconds since 1970 too', () => {
    const seconds = String(Math.floor(nowMs / 1000) - 600)
    expect(plan({ startTime: seconds }).points).toBe(61)
  })

  test('that ends before it begins, or at no time, is refused', () => {
    expect(() => plan({ startTime: ago(60), endTime: ago(120) })).toThrow(/before endTime/)
    expect(() => plan({ startTime: '2026-02-30T99:00:00Z' })).toThrow(/not a time/)
  })
})

test('samples are joined by the step they lie in, and steps without any are left out', () => {
  const joined = joinSteps([{ at: 0 }, { at: 10 }, { at: 20 }, { at: 95 }], 30, (at, parts) => ({ at, count: parts.length }))
  expect(joined).toEqual([
    { at: 0, count: 3 },
    { at: 90, count: 1 },
  ])
})
