import { describe, expect, test } from 'vitest'
import { latestFireWithin, nextFireAt, problemOfSchedule, problemOfTimezone } from '../../../../server/apps/cron-jobs/schedule.ts'

const at = (text: string): number => Date.parse(text)
const next = (schedule: string, from: string, timezone = 'UTC'): string | undefined => {
  const time = nextFireAt({ schedule, timezone }, at(from))
  return time === undefined ? undefined : new Date(time).toISOString()
}

describe('the next time', () => {
  test.each([
    ['* * * * *', '2026-11-21T10:01:02Z', '2026-11-21T10:02:00.000Z'],
    ['0 9 * * MON-FRI', '2026-11-20T09:00:00Z', '2026-11-23T09:00:00.000Z'],
    ['15,45 8-10/2 1 jan,jul *', '2026-11-21T10:00:00Z', '2027-01-01T08:15:00.000Z'],
    ['0 0 * * 7', '2026-11-21T10:00:00Z', '2026-11-22T00:00:00.000Z'],
    ['0 0 29 2 *', '2026-11-21T10:00:00Z', '2028-02-29T00:00:00.000Z'],
    // Day of month or day of week, as in every cron.
    ['0 0 13 * FRI', '2026-11-21T10:00:00Z', '2026-11-27T00:00:00.000Z'],
    ['@hourly', '2026-11-21T10:00:00Z', '2026-11-21T11:00:00.000Z'],
    ['@Yearly', '2026-11-21T10:00:00Z', '2027-01-01T00:00:00.000Z'],
  ])('of %s after %s is %s', (schedule, from, expected) => {
    expect(next(schedule, from)).toBe(expected)
  })

  test('is strictly later, also within its own minute and second', () => {
    expect(next('0 10 * * *', '2026-11-21T09:59:59.999Z')).toBe('2026-11-21T10:00:00.000Z')
    expect(next('0 10 * * *', '2026-11-21T10:00:00.000Z')).toBe('2026-11-22T10:00:00.000Z')
    expect(next('0 10 * * *', '2026-11-21T10:00:00.500Z')).toBe('2026-11-22T10:00:00.000Z')
  })

  test('goes by the time zone of the schedule', () => {
    expect(next('0 9 * * *', '2026-07-01T00:00:00Z', 'Europe/Berlin')).toBe('2026-07-01T07:00:00.000Z')
    expect(next('0 9 * * *', '2026-07-01T00:00:00Z', 'Asia/Kathmandu')).toBe('2026-07-01T03:15:00.000Z')
  })

  test('of a fixed time that daylight saving skips is the first moment after the gap, once', () => {
    expect(next('15,45 2 * * *', '2026-03-29T00:00:00Z', 'Europe/Berlin')).toBe('2026-03-29T01:00:00.000Z')
    expect(next('15,45 2 * * *', '2026-03-29T01:00:00Z', 'Europe/Berlin')).toBe('2026-03-30T00:15:00.000Z')
  })

  test('of a fixed time that comes twice is its first coming only, also for who looks in between', () => {
    expect(next('30 2 * * *', '2026-10-25T00:00:00Z', 'Europe/Berlin')).toBe('2026-10-25T00:30:00.000Z')
    expect(next('30 2 * * *', '2026-10-25T01:10:00Z', 'Europe/Berlin')).toBe('2026-10-26T01:30:00.000Z')
  })
})

test('the latest time within bounds includes both of them', () => {
  const hourly = { schedule: '0 * * * *', timezone: 'UTC' }
  expect(latestFireWithin(hourly, at('2026-11-21T08:00:00Z'), at('2026-11-21T10:00:00Z'))).toBe(at('2026-11-21T10:00:00Z'))
  expect(latestFireWithin(hourly, at('2026-11-21T10:00:00Z'), at('2026-11-21T10:00:00Z'))).toBe(at('2026-11-21T10:00:00Z'))
  expect(latestFireWithin(hourly, at('2026-11-21T10:00:01Z'), at('2026-11-21T10:59:59Z'))).toBeUndefined()
})

describe('a schedule', () => {
  test.each(['* * * * *', '0 0 L * *', '0 0 * * FRI#2', '@daily', '*/5 0-6 * jan-mar sun', '0\t3 * * *'])('may be %j', (schedule) => {
    expect(problemOfSchedule(schedule)).toBeUndefined()
  })

  test.each([
    ['', 'five fields'],
    ['* * * *', 'five fields'],
    ['* * * * * *', 'no seconds'],
    ['0 0 30 2 *', 'never runs'],
    ['0 0 31 4,6,9,11 *', 'never runs'],
    ['60 * * * *', 'Invalid value for minute: 60'],
    ['0 24 * * *', 'Invalid value for hour: 24'],
    ['*/0 * * * *', 'illegal stepping'],
    ['*/90 * * * *', 'steps cannot be greater'],
    ['5-1 * * * *', 'From value is larger than to value'],
    ['0 0 * * MON#6', 'out of range'],
    ['? * * * *', '"?" is no field'],
    ['0 0 * * +5', '"+5" is no field'],
    ['H * * * *', 'illegal characters'],
    ['2026-01-01T00:00:00', 'five fields'],
    ['@reboot', '"@reboot" is not known'],
    ['@every 5m', 'is not known'],
    ['$(id) * * * *', '"$(id)" is no field'],
    ['0 0 * *\n*', 'five fields'],
    ['0 0 * * \u0661', 'is no field'],
  ])('is not %j, and why is said', (schedule, why) => {
    expect(problemOfSchedule(schedule)).toContain(why)
  })
})

describe('a time zone', () => {
  test.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'])('may be %s', (timezone) => {
    expect(problemOfTimezone(timezone)).toBeUndefined()
  })
  test.each(['', 'Mars/Olympus', '+02:00', '../etc/passwd', 'Europe/Berlin\n', 'GMT+2'])('is not %j', (timezone) => {
    expect(problemOfTimezone(timezone)).toContain('is no time zone')
  })
})
