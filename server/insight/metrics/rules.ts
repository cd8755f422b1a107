import { AppError } from '../../../shared/error.ts'
import { ceilTo, floorTo, type Level, levels } from '../../telemetry/metrics/levels.ts'

export interface RangeQuery {
  startTime?: string
  endTime?: string
  resolutionSeconds?: number
}

/** Times are in seconds since 1970, aligned to `step`. */
export interface Plan {
  level: Level
  step: number
  start: number
  end: number
}

interface Asker {
  nowMs: number
  services: number
  isByInstance: boolean
}

const DEFAULT_RANGE_SECONDS = 60 * 60
const MAX_POINTS = 2000
const MAX_POINTS_IN_ALL = 20_000
/** A query for the last hour takes a moment to arrive. */
const SLACK_SECONDS = 120

/** Plans the finest step that is kept of the whole range and bounds the points. @throws AppError validation_failed for a range that is none. */
export function planQuery({ startTime, endTime, resolutionSeconds = 1 }: RangeQuery, { nowMs, services, isByInstance }: Asker): Plan {
  const now = nowMs / 1000
  const end = secondsOf('endTime', endTime) ?? now
  const start = secondsOf('startTime', startTime) ?? end - DEFAULT_RANGE_SECONDS
  if (start >= end) throw refused('startTime', 'must be before endTime')
  const kept = Math.max(start, now - (levels.at(-1)?.keptSeconds ?? 0))
  const covering = levels.filter(({ keptSeconds }) => now - kept <= keptSeconds + SLACK_SECONDS)
  const finest = covering[0] ?? levels.at(-1) ?? levels[0]
  if (finest === undefined) throw new Error('There are no levels')
  const points = Math.max(1, Math.min(MAX_POINTS, Math.floor(MAX_POINTS_IN_ALL / services)))
  const span = Math.max(0, Math.min(end, now) - kept)
  // One step more than fits: the first and last are seldom whole.
  const step = ceilTo(Math.max(resolutionSeconds, span / Math.max(1, points - 1)), finest.stepSeconds)
  const usable = covering.filter((level) => step % level.stepSeconds === 0 && !(isByInstance && level.isByServiceOnly))
  return { level: usable.at(-1) ?? finest, step, start: floorTo(kept, step), end: ceilTo(Math.min(end, now), step) }
}

export function joinSteps<S extends { at: number }>(samples: readonly S[], step: number, join: (at: number, parts: S[]) => S): S[] {
  const joined: S[] = []
  let parts: S[] = []
  const close = () => {
    const [first] = parts
    if (first !== undefined) joined.push(join(floorTo(first.at, step), parts))
  }
  for (const sample of samples) {
    const [first] = parts
    if (first !== undefined && floorTo(first.at, step) !== floorTo(sample.at, step)) {
      close()
      parts = []
    }
    parts.push(sample)
  }
  close()
  return joined
}

/** Refuses one field of a query; `message` goes on after its name. */
export const refused = (field: string, message: string): AppError =>
  new AppError('validation_failed', `/${field} ${message}.`, { details: [{ path: `/${field}`, message }] })

function secondsOf(field: string, time: string | undefined): number | undefined {
  if (time === undefined) return undefined
  const seconds = /^\d+$/.test(time) ? Number(time) : Date.parse(time) / 1000
  if (Number.isNaN(seconds)) throw refused(field, 'is not a time that exists')
  return seconds
}
