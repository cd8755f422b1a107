import { InvalidArgumentError, Option } from 'commander'
import { parseDuration } from '../../shared/duration.ts'
import { nearest } from '../../shared/nearest.ts'

export const wholeNumber =
  (minimum: number, maximum: number) =>
  (text: string): number => {
    const number = Number(text)
    if (!/^\d+$/.test(text) || number < minimum || number > maximum) {
      throw new InvalidArgumentError(`Give a whole number from ${minimum} to ${maximum}.`)
    }
    return number
  }

/** Parser of an option that may be given several times or comma-joined. */
export const gather = (text: string, before: string[] = []): string[] => [...before, ...text.split(',').filter((part) => part !== '')]

export const gatherOf =
  <T extends string>(values: readonly T[]) =>
  (text: string, before: T[] = []): T[] => [
    ...before,
    ...gather(text).map((part) => {
      const value = values.find((candidate) => candidate === part)
      if (value === undefined) {
        const meant = nearest(part, values)
        throw new InvalidArgumentError(`${meant === undefined ? '' : `Did you mean ${meant}? `}Give some of ${values.join(', ')}.`)
      }
      return value
    }),
  ]

export const gatherWhole = (text: string, before: string[] = []): string[] => [...before, text]

/** Parser of an option that is a length of time: milliseconds. */
export function durationOption(text: string): number {
  const durationMs = parseDuration(text)
  if (durationMs === undefined) throw new InvalidArgumentError('Give a duration such as 30s, 5m or 2h.')
  return durationMs
}

/** An RFC 3339 time from `5m` (that long before now) or from a time in a common form. */
export const timeBefore =
  (now: () => number) =>
  (text: string): string => {
    const durationMs = parseDuration(text)
    const at = durationMs === undefined ? (/^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN) : now() - durationMs
    if (Number.isNaN(at)) throw new InvalidArgumentError('Give a duration such as 5m or 2h, or a time such as 2026-01-31T09:30:00Z.')
    return new Date(at).toISOString()
  }

export const untilProvenOption = (): Option =>
  new Option('--until-proven', 'Wait until the new release is no longer watched, and fail if it was taken back').conflicts('detach')
