/**
 * The times of a cron expression in a time zone. Daylight saving as Vixie cron has it: a fixed time (`30 2 * * *`) that a change skips
 * runs once, at the first moment after the gap, and one that comes twice runs at its first coming only; what recurs by wildcard or step
 * (a quarter of an hour, say) goes by elapsed time.
 */

import { Cron } from 'croner'
import type { CronRule } from '../../../shared/cron.ts'
import { messageOf } from '../../../shared/error.ts'
import { memo } from '../../platform/memo.ts'

export type Rhythm = Pick<CronRule, 'schedule' | 'timezone'>

const REMEMBERED_RHYTHMS = 1000
const FIELD = /^[0-9A-Za-z*,/#-]+$/
const NICKNAME = /^@(hourly|daily|midnight|weekly|monthly|yearly|annually)$/i
const FIELDS = 5

/** The first time strictly after `afterMs` (ms since 1970), or undefined. @throws Error for a schedule or time zone with a problem. */
export function nextFireAt({ schedule, timezone }: Rhythm, afterMs: number): number | undefined {
  return cronOf(`${timezone} ${schedule}`).nextRun(new Date(afterMs))?.getTime()
}

/** The latest time from `fromMs` to `untilMs`, both included, or undefined. Walks through all of them. */
export function latestFireWithin(rhythm: Rhythm, fromMs: number, untilMs: number): number | undefined {
  let latest: number | undefined
  for (let at = nextFireAt(rhythm, fromMs - 1000); at !== undefined && at <= untilMs; at = nextFireAt(rhythm, at)) {
    if (at >= fromMs) latest = at
  }
  return latest
}

export function problemOfSchedule(schedule: string): string | undefined {
  const fields = schedule.trim().split(/[ \t]+/)
  if (schedule.startsWith('@'))
    return NICKNAME.test(schedule)
      ? undefined
      : `"${schedule}" is not known. Give @hourly, @daily, @weekly, @monthly, @yearly, or five fields.`
  if (fields.length === FIELDS + 1)
    return `"${schedule}" has six fields. A schedule has five and no seconds: minute, hour, day of month, month, day of week.`
  if (fields.length !== FIELDS)
    return `"${schedule}" is no schedule. Give five fields: minute, hour, day of month, month, day of week, such as 0 3 * * *.`
  const odd = fields.find((field) => !FIELD.test(field))
  if (odd !== undefined)
    return `"${odd}" is no field of a schedule. Fields hold numbers, names, *, lists (1,2), ranges (1-5) and steps (*/15).`
  try {
    return nextFireAt({ schedule, timezone: 'UTC' }, Date.UTC(2000, 0, 1)) === undefined
      ? `"${schedule}" never runs: there is no such day.`
      : undefined
  } catch (error) {
    return `"${schedule}" is no schedule: ${reasonOf(error)}.`
  }
}

export function problemOfTimezone(timezone: string): string | undefined {
  const message = `"${timezone}" is no time zone. Give a name such as Europe/Berlin or UTC.`
  // Fixed offsets pass as zones, too, but change with no daylight saving: whoever writes one likely expects that.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(timezone)) return message
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone })
    return undefined
  } catch {
    return message
  }
}

const cronOf = memo((key: string) => {
  const [timezone = '', ...fields] = key.split(' ')
  return new Cron(fields.join(' ').trim(), { timezone, mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true })
}, REMEMBERED_RHYTHMS)

const reasonOf = (error: unknown): string =>
  messageOf(error)
    .replace(/^CronPattern: /, '')
    .replace(/\.$/, '')
