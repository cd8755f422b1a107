import { parseDuration } from '../../shared/duration.ts'
import { usageError } from '../base/error.ts'

/** An RFC 3339 time from `90d` (from now) or a common form; a day alone means its end. @throws CliError for neither, or a past time. */
export function timeAhead(text: string, { option, now }: { option: string; now: number }): string {
  const durationMs = parseDuration(text)
  const at = durationMs === undefined ? timeIn(text) : now + durationMs
  if (Number.isNaN(at)) throw usageError(`${option} ${text} is no time.`, 'Give a duration such as 90d, or a day such as 2030-01-31.')
  if (at <= now) throw usageError(`${option} ${text} is past.`, 'Give a time to come.')
  return new Date(at).toISOString()
}

const DAY_CHARS = '2030-01-31'.length

function timeIn(text: string): number {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text) && isDay(text)) return Date.parse(`${text}T23:59:59.999Z`)
  return /^\d{4}-\d{2}-\d{2}T/.test(text) && isDay(text.slice(0, DAY_CHARS)) ? Date.parse(text) : Number.NaN
}

/** Date.parse takes the 31st of February for a day in March. */
function isDay(text: string): boolean {
  const at = Date.parse(text)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}
