import { describe, expect, test } from 'vitest'
import { type CronSituation, planCronJob } from '../../../../server/apps/cron-jobs/plan.ts'
import type { NextDue } from '../../../../server/apps/cron-jobs/store.ts'

const at = (text: string): number => Date.parse(`2026-11-21T${text}Z`)
const rule = { schedule: '0 * * * *', timezone: 'UTC', overlapPolicy: 'skip' } as const
const due = (time: number | null): NextDue => ({ schedule: rule.schedule, timezone: rule.timezone, nextDueAt: time })
const plan = (changes: Partial<CronSituation>) =>
  planCronJob({ now: at('10:30:00'), rule, isActive: true, kept: due(at('11:00:00')), openRunIds: [], ...changes })
const nothing = { next: undefined, run: undefined, skipped: [] }

describe('the schedule', () => {
  test('does nothing before its time', () => {
    expect(plan({})).toEqual(nothing)
  })

  test('begins with the next time from now, and with none of the past', () => {
    const begun = { next: due(at('11:00:00')), run: undefined, skipped: [] }
    expect(plan({ kept: undefined })).toEqual(begun)
    expect(plan({ kept: due(null) })).toEqual(begun)
    expect(plan({ kept: { schedule: '5 * * * *', timezone: 'UTC', nextDueAt: at('10:05:00') } })).toEqual(begun)
    expect(plan({ kept: { ...due(at('10:00:00')), timezone: 'Asia/Kathmandu' } })).toEqual(begun)
  })

  test('runs at its time, and goes on to the next', () => {
    expect(plan({ now: at('11:00:00') })).toEqual({
      next: due(at('12:00:00')),
      run: { dueAt: at('11:00:00'), replacedRunIds: [] },
      skipped: [],
    })
  })

  test('rests while the service is suspended or has no release, and rests once', () => {
    expect(plan({ isActive: false, now: at('11:00:00') })).toEqual({ ...nothing, next: due(null) })
    expect(plan({ isActive: false, kept: due(null) })).toEqual(nothing)
    expect(plan({ isActive: false, kept: undefined })).toEqual(nothing)
  })
})

describe('times that passed while nobody looked', () => {
  test('are made up for by one run, for the newest, and the others are told', () => {
    const made = plan({ now: at('14:20:00') })
    expect(made.run).toEqual({ dueAt: at('14:00:00'), replacedRunIds: [] })
    expect(made.next).toEqual(due(at('15:00:00')))
    expect(made.skipped).toEqual([
      { dueAt: at('11:00:00'), reason: 'The platform was away or busy then. Of all the times since then only the newest is made up for.' },
    ])
  })

  test('are not made up for when the newest is an hour old and more', () => {
    const daily = { ...rule, schedule: '0 3 * * *' }
    const kept = { ...due(at('03:00:00')), schedule: daily.schedule }
    expect(plan({ rule: daily, kept, now: at('04:00:00') }).run).toEqual({ dueAt: at('03:00:00'), replacedRunIds: [] })
    const late = plan({ rule: daily, kept, now: at('04:00:00') + 1 })
    expect(late.run).toBeUndefined()
    expect(late.skipped).toEqual([
      { dueAt: at('03:00:00'), reason: 'The platform was away or busy then. It is too late to make up for it.' },
    ])
    expect(late.next?.nextDueAt).toBe(at('03:00:00') + 24 * 3_600_000)
  })

  test('are not walked through one by one after a year', () => {
    const everyMinute = { ...rule, schedule: '* * * * *' }
    const kept = { ...due(at('00:00:00') - 365 * 86_400_000), schedule: everyMinute.schedule }
    // Half a million steps would outlast the test.
    expect(plan({ rule: everyMinute, kept, now: at('10:00:30') }).run?.dueAt).toBe(at('10:00:00'))
  })
})

describe('a run that falls due while another is under way', () => {
  const now = at('11:00:00')
  test('is left out with skip, and that is told', () => {
    expect(plan({ now, openRunIds: ['job-1'] })).toEqual({
      next: due(at('12:00:00')),
      run: undefined,
      skipped: [{ dueAt: now, reason: 'Run job-1 was still under way.' }],
    })
  })
  test('runs beside it with allow', () => {
    expect(plan({ now, openRunIds: ['job-1'], rule: { ...rule, overlapPolicy: 'allow' } }).run).toEqual({ dueAt: now, replacedRunIds: [] })
  })
  test('takes its place with replace', () => {
    expect(plan({ now, openRunIds: ['job-1'], rule: { ...rule, overlapPolicy: 'replace' } }).run).toEqual({
      dueAt: now,
      replacedRunIds: ['job-1'],
    })
  })
})

describe('a clock that is set back', () => {
  test('by up to three hours meets times that had their run: the next stays as it is', () => {
    expect(plan({ now: at('08:30:00') })).toEqual(nothing)
  })
  test('by more was wrong before: the next time is looked for anew', () => {
    expect(plan({ now: at('06:30:00') })).toEqual({ next: due(at('07:00:00')), run: undefined, skipped: [] })
  })
  test('is not suspected where the next time is far away by itself', () => {
    const yearly = { ...rule, schedule: '@yearly' }
    expect(plan({ rule: yearly, kept: { ...due(Date.UTC(2027, 0, 1)), schedule: '@yearly' } })).toEqual(nothing)
  })
})
